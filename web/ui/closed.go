package ui

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/web/timeline"
)

// AskClosedPage is the page of a question that was settled.
func AskClosedPage(c Chrome, a *timeline.Ask) templ.Component { return askClosedPage(c, a) }

// AskClosed takes the place of a question on its own page.
func AskClosed(a *timeline.Ask) templ.Component { return oneLine(closedView(a, true)) }

// AskSettled takes the place of a question on its run's page.
func AskSettled(a *timeline.Ask) templ.Component { return oneLine(closedView(a, false)) }

// closedBecause says in a sentence what became of a question.
func closedBecause(a *timeline.Ask) string {
	how := askWord(a)
	if strings.HasPrefix(how, "expired") {
		return "This question " + how + "."
	}
	return "This question was " + how + "."
}
