package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// twoConfirms asks two questions, one after the other.
var twoConfirms = newPhoton("twice", func(_ context.Context, yield generators.Yield) (bool, error) {
	if _, err := ask.Confirm(yield, "one", "One?"); err != nil {
		return false, err
	}
	return ask.Confirm(yield, "two", "Two?")
}, nil)

func (b *testEngine) startRunAs(who generators.Caller, photon string) string {
	b.t.Helper()
	info, err := b.Start(b.t.Context(), who, engine.StartRequest{Photon: photon})
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// Runs are listed newest first and questions oldest first, for an owner and for an
// operator, who sees those of all owners, and however long the lists are.
func TestListsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newTestEngine(t, twoConfirms)
		a, b := generators.Caller{ID: "a"}, generators.Caller{ID: "b"}
		all := generators.Caller{ID: "b", Roles: []string{generators.RoleOperator}}
		var ids []string
		for i := range 300 {
			ids = append(ids, e.startRunAs([]generators.Caller{a, a, b}[i%3], "twice")) // of a, a and b in turn
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()

		newest := slices.Clone(ids)
		slices.Reverse(newest)
		if got := runIDsOf(e.Runs(all, 0, nil)); !slices.Equal(got, newest) {
			t.Errorf("the runs are out of order: %q", got)
		}
		if got := runIDsOf(e.Runs(all, 70, nil)); !slices.Equal(got, newest[:70]) {
			t.Errorf("the first page has %d runs, or the wrong ones", len(got))
		}
		var newestOfA, oldestOfA []string
		for i, id := range ids {
			if i%3 != 2 {
				newestOfA, oldestOfA = append([]string{id}, newestOfA...), append(oldestOfA, id)
			}
		}
		if got := runIDsOf(e.Runs(a, 0, nil)); !slices.Equal(got, newestOfA) {
			t.Errorf("a's runs are out of order: %q", got)
		}
		if got := askRunsOf(e.Inbox(a, 0)); !slices.Equal(got, oldestOfA) {
			t.Errorf("a's inbox is out of order: %q", got)
		}
		if got := e.Runs(b, 0, nil); len(got) != 100 {
			t.Errorf("b has %d runs", len(got))
		}
		if got := e.Runs(generators.Caller{ID: "stranger"}, 0, nil); len(got) != 0 {
			t.Errorf("a stranger has %d runs", len(got))
		}
		if got := askRunsOf(e.Inbox(all, 0)); !slices.Equal(got, ids) {
			t.Errorf("the inbox is out of order: %q", got)
		}
		if got := askRunsOf(e.Inbox(all, 70)); !slices.Equal(got, ids[:70]) {
			t.Errorf("the inbox's first page has %d questions, or the wrong ones", len(got))
		}

		// A run whose first question is answered asks its next one, which is then the
		// newest.
		open := e.Inbox(all, 1)[0]
		if err := e.Answer(t.Context(), all, open.ID, askdata.Answer{Action: askdata.Accept, Content: []byte(`{"one":true}`)}, "test"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := append(slices.Clone(ids[1:]), ids[0])
		if got := askRunsOf(e.Inbox(all, 0)); !slices.Equal(got, want) {
			t.Errorf("after an answer, the inbox is out of order: %q", got)
		}
		if err := e.Cancel(t.Context(), all, ids[150], "browser"); err != nil {
			t.Fatal(err)
		}
		if n, listed := e.CountOpenAsks(all), len(e.Inbox(all, 0)); n != 299 || listed != 299 {
			t.Errorf("%d questions are open and %d are listed, want 299", n, listed)
		}
	})
}

func runIDsOf(infos []engine.Info) (ids []string) {
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	return ids
}

func askRunsOf(open []engine.OpenAsk) (ids []string) {
	for _, o := range open {
		ids = append(ids, o.Run)
	}
	return ids
}

// BenchmarkLists measures a page of the lists of an owner with 20,000 waiting
// runs.
func BenchmarkLists(b *testing.B) {
	e := newTestEngine(b, twoConfirms)
	var id string
	for range 20_000 {
		id = e.startRun("twice", "")
	}
	for _, r := range e.Runs(me, 0, nil) {
		e.waitForEntry(r.ID, 0, runlog.KindAsked)
	}
	b.Run("runs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if page := e.Runs(me, 50, nil); len(page) != 50 || page[0].ID != id {
				b.Fatal(len(page))
			}
		}
	})
	b.Run("inbox", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if page := e.Inbox(me, 50); len(page) != 50 {
				b.Fatal(len(page))
			}
		}
	})
}

// An updated inbox has what changed, and reads no question again.
func TestUpdateInbox(t *testing.T) {
	e := newTestEngine(t, twoConfirms)
	first := e.startRun("twice", "")
	askID, _ := e.waitForAsk(first, 0)
	earlier := e.Inbox(me, 0)
	if len(earlier) != 1 {
		t.Fatalf("the inbox has %d questions", len(earlier))
	}
	q := *earlier[0].Question
	q.Message = "as it was read before"
	earlier[0].Question, earlier[0].Owner = &q, "somebody who gave it up"
	second := e.startRun("twice", "")
	e.waitForAsk(second, 0)
	now := e.updateInbox(me, earlier)
	if len(now) != 2 || now[0].Question != &q || now[0].Owner != me.ID || now[1].Question.Message == q.Message {
		t.Errorf("the updated inbox has %+v", now)
	}
	e.acceptAsk(askID, `{"one":true}`)
	if ids := askRunsOf(e.updateInbox(me, now[:1])); !slices.Contains(ids, second) || len(ids) > 2 {
		t.Errorf("after an answer, the inbox has questions of %q", ids)
	}
	for _, o := range e.updateInbox(me, now) {
		if o.ID == askID {
			t.Error("after its answer, the question is still in the inbox")
		}
	}
}
