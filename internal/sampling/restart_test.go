package sampling_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/smallstate"
)

// A call that a restart cut is repeated once, and says so. After a second restart, a
// person is asked again.
func TestRestartInAReply(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.Say("Hel"); x.WaitUntilGone() })
	models := s.Models(`"name":"m"`)
	b := open(t, nil, models)
	run, id := b.ask("x")
	b.approve(id, sampling.Decision{Review: true})
	b.waitFor(run, sampled(isText))
	b.close()

	b = open(t, b, models)
	b.waitFor(run, sampled(func(d runlog.Sampling) bool { return d.Call == 2 && isText(d) }))
	if s := b.state(id); s.Call != 2 || s.Approval.Repeats != 1 || !s.Approval.Review || s.Approval.By.ID != ada.ID {
		t.Errorf("the state is %+v", s)
	}
	first, _ := runlog.Decode[runlog.Sampling](b.waitFor(run, endOf(1)))
	if !strings.Contains(first.Ended.Error, "Beam was restarted while the model replied. The same request is sent again.") {
		t.Errorf("the end of the first call is %+v", first.Ended)
	}
	b.close()

	b = open(t, b, models)
	if s := b.state(id); s.Phase != sampling.Failed || !strings.Contains(s.End.Error, "sent twice") {
		t.Errorf("after another restart, the state is %+v, %+v", s, s.End)
	}
	sent := s.Requests()
	if len(sent) != 2 || string(sent[0]) != string(sent[1]) {
		t.Errorf("it sent %q", sent)
	}
	_, other := replier(t, "Hello")
	b.close()
	b = open(t, b, other)
	b.approve(id, sampling.Decision{})
	if got := b.result(run); got != "served: Hello (endTurn)" {
		t.Errorf("the run got %q", got)
	}
}

// No model is called for a run that is parked: not again by a restart, and not by an approval.
func TestParkedRunCallsNoModel(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.Say("Hel"); x.WaitUntilGone() })
	models := s.Models(`"name":"m"`)
	b := open(t, nil, models)
	run, id := b.ask("x")
	b.approve(id, sampling.Decision{})
	b.waitFor(run, sampled(isText))
	b.close()

	all := photons
	photons = nil
	b = open(t, b, models)
	photons = all
	if s := b.state(id); s.Phase != sampling.Failed || !strings.Contains(s.End.Error, "The run is parked") {
		t.Errorf("the state is %+v, %+v", s, s.End)
	}
	if err := b.Approve(t.Context(), ada, "test", id, sampling.Decision{}); !errors.Is(err, engine.ErrParked) {
		t.Errorf("an approval: %v", err)
	}
	if sent := s.Requests(); len(sent) != 1 {
		t.Errorf("it sent %q", sent)
	}
	b.close()

	_, other := replier(t, "Hello")
	b = open(t, b, other)
	b.approve(id, sampling.Decision{})
	if got := b.result(run); got != "served: Hello (endTurn)" {
		t.Errorf("the run got %q", got)
	}
}

// Nothing is repeated for a model that is configured differently.
func TestRestartWithAnotherModel(t *testing.T) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.Say("Hel"); x.WaitUntilGone() })
	b := open(t, nil, s.Models(`"name":"m"`))
	run, id := b.ask("x")
	b.approve(id, sampling.Decision{})
	b.waitFor(run, sampled(isText))
	b.close()
	for want, members := range map[string]string{"no longer configured": `"name":"m","model":"other"`, "would send something else": `"name":"m","omit":["stream_options"]`} {
		copied := open(t, &beam{log: copyLog(t, b.log, run), blobs: b.blobs}, s.Models(members))
		if s := copied.state(id); s.Phase != sampling.Failed || !strings.Contains(s.End.Error, want) {
			t.Errorf("%s: the state is %+v, %+v", want, s, s.End)
		}
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// A durable run that waits for an approval goes on after a restart. So does one whose
// reply had arrived and was not returned.
func TestRestartBeforeAnApproval(t *testing.T) {
	s, models := replier(t, "Hello")
	b := open(t, nil, models)
	run, id := b.ask("x")
	b.close()
	b = open(t, b, models)
	b.approve(id, sampling.Decision{})
	if got := b.result(run); got != "served: Hello (endTurn)" {
		t.Errorf("the run got %q", got)
	}
	run, id = b.ask("y")
	b.approve(id, sampling.Decision{})
	b.result(run)
	b.close()
	cut := copyLog(t, b.log, run, runlog.KindAnswered) // the process ended between the two entries
	b = open(t, &beam{log: cut, blobs: b.blobs}, models)
	if got := b.result(run); got != "served: Hello (endTurn)" || len(s.Requests()) != 2 {
		t.Errorf("the run got %q by %d requests", got, len(s.Requests()))
	}
}

// copyLog returns a log with the entries of a run up to the first of a kind.
func copyLog(t *testing.T, from runlog.Log, run string, until ...runlog.Kind) runlog.Log {
	t.Helper()
	to := runlog.NewMemory()
	last := uint64(0)
	for batch, err := range from.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			if len(until) > 0 && e.Kind == until[0] {
				return to
			}
			if last, err = to.Append(t.Context(), run, last, runlog.Entry{Time: e.Time, Kind: e.Kind, Data: e.Data, Blob: e.Blob}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}

func countedSince(t *testing.T, b *beam) time.Time {
	t.Helper()
	since, err := b.UsageSince(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return since
}

// What was used is counted on after a restart. Standing approvals end with it: who starts
// Beam anew expects to be asked.
func TestRestartKeepsUsage(t *testing.T) {
	_, models := replier(t, "ok")
	b := open(t, nil, models)
	for range 2 {
		run, id := b.ask("x")
		b.approve(id, sampling.Decision{Standing: &sampling.StandingRequest{Scope: sampling.ScopeTool, Requests: 1}})
		b.result(run)
		if list := b.Standings(ada); len(list) != 1 {
			t.Errorf("the standing approvals are %+v", list)
		}
		b.close()
		since := countedSince(t, b)
		b = open(t, b, models)
		if list := b.Standings(ada); len(list) != 0 {
			t.Errorf("after a restart, the standing approvals are %+v", list)
		}
		if again := countedSince(t, b); !again.Equal(since) {
			t.Errorf("counting began at %s, not at %s", again, since)
		}
	}
	want := []sampling.Usage{{Tool: "asker", Model: "m", Calls: 2, InputTokens: 24, OutputTokens: 6}}
	if got := b.used(ada); !slices.Equal(got, want) {
		t.Errorf("the usage is %+v", got)
	}
	if got := b.used(bob); len(got) != 0 {
		t.Errorf("somebody else's usage is %+v", got)
	}
}

// What earlier versions kept in a file is counted on.
func TestOldUsage(t *testing.T) {
	_, models := replier(t, "ok")
	b := open(t, nil, models)
	const file = `{"since":"2026-01-02T03:04:05Z","usage":[{"owner":"user:ada","tool":"asker","model":"m","calls":2,"failed":1,"inputTokens":24,"outputTokens":6},{"owner":"","tool":"t","server":"s","model":"n","calls":1,"failed":0,"inputTokens":1,"outputTokens":2,"estimated":true}]}`
	values, err := sampling.OldUsage([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if _, err := b.values.Apply(t.Context(), smallstate.Change{Bucket: sampling.UsageBucket, Key: v.Key, New: v.Value}); err != nil {
			t.Fatal(err)
		}
	}
	want := []sampling.Usage{{Tool: "asker", Model: "m", Calls: 2, Failed: 1, InputTokens: 24, OutputTokens: 6}, {Server: "s", Tool: "t", Model: "n", Calls: 1, InputTokens: 1, OutputTokens: 2, Estimated: true}}
	if got := b.used(callers.Operator()); !slices.Equal(got, want) {
		t.Errorf("the usage is %+v", got)
	}
	if since := countedSince(t, b); !since.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("counting began at %s", since)
	}
	if _, err := sampling.OldUsage([]byte("{")); err == nil {
		t.Error("there is usage in a damaged file")
	}
}
