// Package runlisttest holds the test suite that every [runlist.Store] must pass.
package runlisttest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// RandomEntry returns an entry that may follow others, or not. It refers to those shortly
// before.
func RandomEntry(r *rand.Rand, after uint64) runlog.Entry {
	back := max(after, 4) - uint64(r.IntN(4))
	who := []string{"ada", "bob", "user:eve", "o\x00wner", "\x01"}
	by := generators.Caller{ID: who[r.IntN(len(who))], Name: "n", Roles: []string{"ops"}}
	audiences := [][]askdata.Who{nil, nil, {{Role: "ops"}}, {{User: "eve"}, {Role: "ops"}, {User: "eve"}}}
	statuses := []runlog.FinishStatus{runlog.Completed, runlog.Failed, runlog.Stopped, runlog.Interrupted, runlog.Unanswered}
	at := time.Now().Add(time.Duration(r.IntN(1000)-500) * time.Minute)
	if after == 0 && r.IntN(20) > 0 {
		s := runlog.Started{Photon: "p", Title: "T", Durable: r.IntN(2) == 0, Surface: "test", Args: json.RawMessage(`{"a":1}`), RetainFor: askdata.Millis(r.IntN(2)) * askdata.Millis(time.Minute)}
		s.SetStartedBy(by)
		if r.IntN(3) == 0 {
			s.Fork = &runlog.Fork{Of: fmt.Sprintf("run%02d", r.IntN(5)), Until: r.Uint64N(100), Last: 100, Calls: r.IntN(10)}
		}
		if r.IntN(3) == 0 {
			s.Exclusive, s.IdempotencyKey = "k\x00ey", fmt.Sprint("key ", r.Uint64())
		}
		return runlog.NewEntry(runlog.KindStarted, s)
	}
	switch r.IntN(15) {
	case 0:
		return runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "k"})
	case 1:
		return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: int(after), Program: "00c0ffee", Worker: []string{"", "a", "b"}[r.IntN(3)]})
	case 2, 3, 4:
		q := &askdata.Question{Kind: askdata.KindText, Message: "?", From: audiences[r.IntN(len(audiences))], NotCaller: r.IntN(4) == 0}
		a := runlog.Asked{Key: "k", Question: q, TimeSpent: askdata.Millis(time.Second)}
		if r.IntN(2) == 0 {
			a.Deadline = at
		}
		return runlog.NewEntry(runlog.KindAsked, a)
	case 5:
		return runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: back})
	case 6:
		return runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: back, Reason: runlog.Expired})
	case 7:
		return runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "k", Until: time.Date(9999, 12, 31, 0, 0, 0, 5, time.UTC)})
	case 8:
		return runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: back})
	case 9:
		return runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: back, Call: 2, Approved: &runlog.Approval{Model: "m", Request: &ask.SampleRequest{MaxTokens: 1}}})
	case 10:
		return runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: by})
	case 11:
		return runlog.NewEntry(runlog.KindRepeated, runlog.Repeated{Key: "s"})
	case 12:
		return runlog.NewEntry(runlog.KindParked, runlog.Parked{Reason: runlog.ParkedChanged, Detail: "d\x00", Program: "p"})
	case 13:
		if r.IntN(3) == 0 {
			f := runlog.Finished{Status: statuses[r.IntN(len(statuses))], Result: json.RawMessage(`"r"`), Error: "e\x00\xff"}
			if f.Status == runlog.Unanswered {
				f.Ask = &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Seq: back, Message: "?"}
			}
			return runlog.NewEntry(runlog.KindFinished, f)
		}
	}
	return runlog.NewEntry("status", &generators.StatusEvent{Text: fmt.Sprint("status ", after)})
}

// RunSuite compares the rows and lists of a store with those that are made from its log in
// memory, after each of many appends and deletions.
func RunSuite(t *testing.T, open func(*testing.T) runlist.Store) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := open(t)
	last := make([]uint64, 40)
	for round := range 600 {
		i := r.IntN(len(last))
		run := fmt.Sprintf("run%02d", i)
		if last[i] > 0 && r.IntN(15) == 0 {
			if err := s.Delete(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			last[i] = 0
		} else {
			var entries []runlog.Entry
			for range 1 + r.IntN(3) {
				entries = append(entries, RandomEntry(r, last[i]+uint64(len(entries))))
			}
			for last[i] == 0 && entries[0].Kind != runlog.KindStarted {
				entries[0] = RandomEntry(r, 0)
			}
			var err error
			if last[i], err = s.Append(t.Context(), run, last[i], entries...); err != nil {
				t.Fatal(err)
			}
		}
		if round%20 == 19 {
			compareLists(t, s, r)
		}
	}
}

// compareLists compares all lists of a store with those of a log in memory.
func compareLists(t *testing.T, s runlist.Store, r *rand.Rand) {
	t.Helper()
	m := runlist.NewMemory(s, nil)
	if unreadable, err := m.ReadAll(t.Context()); err != nil || len(unreadable) > 0 {
		t.Fatal(unreadable, err)
	}
	for _, owner := range []string{"", "ada", "user:eve", "o\x00wner", "nobody"} {
		compareRuns(t, r, "the runs of "+owner, s, m, func(s runlist.Rows, p runlist.Position, n int) ([]*runlist.Row, error) {
			return s.RunsOf(t.Context(), owner, p, n)
		}, func(r *runlist.Row) time.Time { return r.StartedAt })
		got, want := both(t, s, m, func(s runlist.Rows) (runlist.Counts, error) { return s.CountOf(t.Context(), owner) })
		if got != want {
			t.Fatalf("of %s there are %+v, want %+v", owner, got, want)
		}
		for _, f := range []runlist.AskFilter{{}, {Restricted: true}, {Called: true}, {Names: audience.NamesOf(generators.Caller{ID: "user:eve", Roles: []string{"ops"}})}} {
			f.Owner = owner
			compareAsks(t, r, s, m, f)
		}
	}
	for i := range 5 {
		run := fmt.Sprintf("run%02d", i)
		compareRuns(t, r, "the forks of "+run, s, m, func(s runlist.Rows, p runlist.Position, n int) ([]*runlist.Row, error) {
			return s.ForksOf(t.Context(), run, p, n)
		}, func(r *runlist.Row) time.Time { return r.StartedAt })
	}
	for name, list := range map[string]struct {
		of func(runlist.Rows, context.Context, runlist.Position, int) ([]*runlist.Row, error)
		at func(*runlist.Row) time.Time
	}{
		"unfinished": {runlist.Rows.Unfinished, func(r *runlist.Row) time.Time { return r.StartedAt }},
		"queued":     {runlist.Rows.Queued, func(r *runlist.Row) time.Time { return r.StartedAt }},
		"ended":      {runlist.Rows.Ended, func(r *runlist.Row) time.Time { return r.EndedAt }},
		"due":        {runlist.Rows.Due, func(r *runlist.Row) time.Time { return r.Due() }},
	} {
		compareRuns(t, r, name, s, m, func(s runlist.Rows, p runlist.Position, n int) ([]*runlist.Row, error) {
			return list.of(s, t.Context(), p, n)
		}, list.at)
	}
	runs, wantRuns := both(t, s, m, func(s runlist.Rows) (map[runstate.State]int, error) { return s.CountRuns(t.Context()) })
	for _, state := range runstate.States {
		if runs[state] != wantRuns[state] {
			t.Fatalf("%d runs are %s, want %d", runs[state], state, wantRuns[state])
		}
	}
	unfinished, wantUnfinished := both(t, s, m, func(s runlist.Rows) (map[runlist.Holding]int, error) { return s.CountUnfinished(t.Context()) })
	if !maps.Equal(unfinished, wantUnfinished) {
		t.Fatalf("the unfinished runs are %v, want %v", unfinished, wantUnfinished)
	}
	n, want := both(t, s, m, func(s runlist.Rows) (int, error) { return s.CountAsks(t.Context(), time.Now()) })
	if n != want {
		t.Fatalf("%d questions are open, want %d", n, want)
	}
	first, wantFirst := both(t, s, m, func(s runlist.Rows) (*runlist.Row, error) { return s.FirstOf(t.Context(), "p", "k\x00ey") })
	if (first == nil) != (wantFirst == nil) || first != nil && first.Queued != wantFirst.Queued {
		t.Fatalf("the first with the key is %+v, want %+v", first, wantFirst)
	}
}

// both returns what a query returns for both.
func both[T any](t *testing.T, s, m runlist.Rows, query func(runlist.Rows) (T, error)) (got, want T) {
	t.Helper()
	got, err := query(s)
	if err != nil {
		t.Fatal(err)
	}
	want, err = query(m)
	if err != nil {
		t.Fatal(err)
	}
	return got, want
}

// compareRuns compares a list of runs, read in pages, with the same in memory.
func compareRuns(t *testing.T, r *rand.Rand, name string, s, m runlist.Rows, list func(runlist.Rows, runlist.Position, int) ([]*runlist.Row, error), at func(*runlist.Row) time.Time) {
	t.Helper()
	want, err := list(m, runlist.Position{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for after := (runlist.Position{}); ; {
		limit := 1 + r.IntN(10)
		page, err := list(s, after, limit)
		if err != nil || len(page) != min(limit, len(want)) {
			t.Fatalf("%s: a page of %d has %d runs, and %d are left: %v", name, limit, len(page), len(want), err)
		}
		for i, row := range page {
			if row.ID != want[i].ID || Describe(row.Run) != Describe(want[i].Run) {
				t.Fatalf("%s: the row is\n%s %s\nwant\n%s %s", name, row.ID, Describe(row.Run), want[i].ID, Describe(want[i].Run))
			}
			after = runlist.Position{At: at(row), ID: row.ID}
		}
		if want = want[len(page):]; len(want) == 0 {
			return
		}
	}
}

// compareAsks compares a list of questions, read in pages, with the same in memory. Those that
// were asked at the same time may be in any order.
func compareAsks(t *testing.T, r *rand.Rand, s, m runlist.Rows, f runlist.AskFilter) {
	t.Helper()
	all, err := m.Asks(t.Context(), f, runlist.Position{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, a := range all {
		want = append(want, a.ID())
	}
	var last time.Time
	for after := (runlist.Position{}); ; {
		limit := 1 + r.IntN(10)
		page, err := s.Asks(t.Context(), f, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page {
			if a.AskedAt.Before(last) {
				t.Fatalf("%+v: the questions are in no order", f)
			}
			got, last, after = append(got, a.ID()), a.AskedAt, runlist.Position{At: a.AskedAt, ID: a.ID()}
		}
		if len(page) < limit {
			break
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%+v: the questions are %v, want %v", f, got, want)
	}
}

// Describe returns the run as indented JSON, in which equal runs are equal.
func Describe(r runstate.Run) string {
	r = r.Clone()
	times := []*time.Time{&r.StartedAt, &r.EndedAt, &r.ChangedAt}
	for _, a := range r.Asks {
		times = append(times, &a.AskedAt, &a.Deadline)
	}
	for i, z := range r.Sleeps {
		r.Sleeps[i] = new(runstate.Sleep{Seq: z.Seq, Until: z.Until.UTC()})
	}
	for _, at := range times {
		*at = at.UTC().Round(0)
	}
	if len(r.Asks) == 0 {
		r.Asks = nil
	}
	if len(r.Sleeps) == 0 {
		r.Sleeps = nil
	}
	if len(r.Repeated) == 0 {
		r.Repeated = nil
	}
	if len(r.Attempts) == 0 {
		r.Attempts = nil
	}
	raw, _ := json.MarshalIndent(r, "", " ")
	return strings.ReplaceAll(string(raw), `\ufffd`, "\ufffd") // how bytes that aren't UTF-8 are written
}
