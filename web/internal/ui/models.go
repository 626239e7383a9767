package ui

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// SamplePage is the page of a question to a model with what a person has entered, and with
// errors or a preview of that, for browsers without script.
func SamplePage(c Chrome, a *timeline.Ask, models *llm.Models, errs []generators.FieldError, values url.Values, shown *Preview) templ.Component {
	v := newSampleView(a, models, errs, values, shown)
	v.ownPage = true
	return samplePage(c, v)
}

// AskElementID returns the id of the element that shows a question.
func AskElementID(ask string) string { return askElementID(ask) }

// describeStanding says what a standing approval still allows.
func describeStanding(a sampling.Standing) string {
	var left []string
	if a.Requests != nil {
		left = append(left, humanize.CountOf(*a.Requests, "request", "requests"))
	}
	if a.Tokens != nil {
		left = append(left, humanize.CountOf(*a.Tokens, "token", "tokens"))
	}
	return "The " + string(a.Scope) + " " + a.Name + ": " + strings.Join(left, " and ") + " left for the model " + a.Model + ", approved by " + callers.Describe(a.By.ID, a.By.Name)
}

// approximately formats a number that may be an estimate.
func approximately(n int, estimated bool) string {
	if estimated {
		return "≈ " + humanize.Thousands(n)
	}
	return humanize.Thousands(n)
}
