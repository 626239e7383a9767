package engine_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

// TestNobodyQualifiesAnyMore checks that a question whose people are gone is in the inboxes of
// its run's owner and of operators, logged and counted, until somebody may answer it again.
func TestNobodyQualifiesAnyMore(t *testing.T) {
	for name, options := range map[string][]ask.Option{
		"named": {ask.From(ask.User("ben"))}, "by role": {ask.From(ask.Role("ops"))}, "not the caller": {ask.From(ask.Role("ops")), ask.NotCaller()},
	} {
		t.Run(name, func(t *testing.T) {
			starter, helper := callers.User("ada", nil), callers.User("ben", []string{"ops"})
			people := []generators.Caller{callers.Operator(), starter, helper}
			if name == "not the caller" {
				starter.Roles = []string{"ops"}
			}
			var logged bytes.Buffer
			o := testOptions(t, restrictedTo(options...))
			o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
			o.People = func(qualifies func(generators.Caller) bool) bool { return slices.ContainsFunc(people, qualifies) }
			b := openTestEngine(t, o)
			id := b.startRunAs(starter, "approve")
			askID := b.waitForOpen(starter, id)
			check := func(when string, want bool) {
				t.Helper()
				b.PeopleChanged()
				for _, who := range []generators.Caller{starter, callers.Operator()} {
					inbox := b.Inbox(who, 0)
					if listed := len(inbox) == 1 && inbox[0].Unanswerable && inbox[0].Excluded; listed != want || b.CountOpenAsks(who) != len(inbox) {
						t.Errorf("%s, the inbox of %s is %+v, of %d", when, who.ID, inbox, b.CountOpenAsks(who))
					}
				}
				if n := b.CountUnanswerable(); (n == 1) != want {
					t.Errorf("%s, %d questions can't be answered", when, n)
				}
			}
			check("at first", false)
			people = people[:2]
			check("once ben is gone", true)
			check("a second time", true)
			if text := logged.String(); strings.Count(text, "nobody who can sign in may answer a question any more") != 1 || !strings.Contains(text, askID) {
				t.Errorf("the log is %s", text)
			}
			people = append(people, helper)
			check("once ben is back", false)
			if inbox := b.Inbox(helper, 0); len(inbox) != 1 || inbox[0].Excluded {
				t.Errorf("ben's inbox is %+v", inbox)
			}
			people = people[:2]
			check("once ben is gone again", true)
			if err := b.Cancel(t.Context(), starter, id, "test"); err != nil || b.CountUnanswerable() > 0 {
				t.Errorf("stopping the run: %v", err)
			}
		})
	}
}
