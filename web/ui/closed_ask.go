package ui

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/web/timeline"
)

// AskClosedPage is the page of a closed question.
func AskClosedPage(c Chrome, a *timeline.Ask) templ.Component { return askClosedPage(c, a) }

// AskClosed replaces a question on its own page.
func AskClosed(a *timeline.Ask) templ.Component { return withoutReturns(closedView(a, true)) }

// AskClosedInDock replaces a question on its run's page.
func AskClosedInDock(a *timeline.Ask) templ.Component { return withoutReturns(closedView(a, false)) }

// closedReason describes the outcome of a question in a sentence.
func closedReason(a *timeline.Ask) string {
	outcome := describeOutcome(a)
	if strings.HasPrefix(outcome, "expired") {
		return "This question " + outcome + "."
	}
	return "This question was " + outcome + "."
}
