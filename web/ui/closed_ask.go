package ui

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/web/timeline"
)

// AskClosedPage is the page of a question that was settled.
func AskClosedPage(c Chrome, a *timeline.Ask) templ.Component { return askClosedPage(c, a) }

// AskClosed takes the place of a question on its own page.
func AskClosed(a *timeline.Ask) templ.Component { return withoutReturns(closedView(a, true)) }

// AskClosedInDock takes the place of a question on its run's page.
func AskClosedInDock(a *timeline.Ask) templ.Component { return withoutReturns(closedView(a, false)) }

// closedReason says in a sentence what became of a question.
func closedReason(a *timeline.Ask) string {
	how := describeOutcome(a)
	if strings.HasPrefix(how, "expired") {
		return "This question " + how + "."
	}
	return "This question was " + how + "."
}
