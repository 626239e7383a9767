package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// testSupervisor records no arguments, admits secrets if told to, and remembers what was
// settled.
type testSupervisor struct {
	admits bool

	mu      sync.Mutex
	settled []engine.SupervisedAsk
}

func (s *testSupervisor) RecordedMessages(*generators.Photon) func(json.RawMessage) json.RawMessage {
	return func(m json.RawMessage) json.RawMessage { return m }
}

func (s *testSupervisor) RecordedArguments(*generators.Photon, json.RawMessage) json.RawMessage {
	return json.RawMessage(`"not recorded"`)
}

func (s *testSupervisor) AdmitsSecrets(*generators.Photon) bool { return s.admits }

func (s *testSupervisor) AskSettled(a engine.SupervisedAsk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = append(s.settled, a)
}

func (s *testSupervisor) takeSettled() (all []engine.SupervisedAsk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, s.settled = s.settled, nil
	return all
}

// askingTool returns a photon that asks for the field that its argument names. With a
// definition, it is another server's tool.
func askingTool(t *testing.T, name string, definition json.RawMessage) *generators.Photon {
	t.Helper()
	input, err := generators.ParseSchema(json.RawMessage(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	return generators.FromSchema(name, input, nil, func(_ context.Context, args json.RawMessage, yield generators.Yield) (json.RawMessage, error) {
		var in struct{ Field string }
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		answer, err := asking.ForFields("who", "Who?", askdata.Fields{{Name: in.Field, Type: "string"}}).Ask(yield)
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer)
	}, &generators.Options{Definition: definition})
}

// A supervisor decides what is recorded and asked of other servers' tools, and learns how
// their questions end. It has no say in other photons.
func TestSupervisor(t *testing.T) {
	s := &testSupervisor{}
	o := testOptions(t, askingTool(t, "foreign", json.RawMessage(`{}`)), askingTool(t, "own", nil))
	o.Supervisor = s
	b := openTestEngine(t, o)

	id := b.startRun("foreign", `{"Field":"name"}`)
	started, err := runlog.Decode[runlog.Started](b.entries(id)[0])
	if err != nil || string(started.Args) != `"not recorded"` {
		t.Errorf("recorded are the arguments %s, %v", started.Args, err)
	}
	askID, _ := b.waitForAsk(id, 0)
	b.acceptAsk(askID, `{"name":"Ada"}`)
	if f := b.waitForEnd(id); !strings.Contains(string(f.Result), "Ada") {
		t.Errorf("the tool didn't get its arguments: %s %s", f.Result, f.Error)
	}
	settled := s.takeSettled()
	if len(settled) != 1 || settled[0].ID != askID || settled[0].Run != id || settled[0].Outcome != "accept" || settled[0].Surface != "test" ||
		settled[0].Owner.ID != me.ID || settled[0].Question == nil || settled[0].Question.Message != "Who?" || settled[0].AnswerBytes != len(`{"name":"Ada"}`) || settled[0].AskedAt.IsZero() {
		t.Errorf("settled is %+v", settled)
	}

	id = b.startRun("foreign", `{"Field":"name"}`)
	b.waitForAsk(id, 0)
	if err := b.Cancel(t.Context(), me, id, "test"); err != nil {
		t.Fatal(err)
	}
	b.waitForEnd(id)
	if settled := s.takeSettled(); len(settled) != 1 || settled[0].Outcome != string(runlog.RunEnded) {
		t.Errorf("of a run that was stopped, settled is %+v", settled)
	}

	if f := b.waitForEnd(b.startRun("foreign", `{"Field":"password"}`)); f.Status != runlog.Failed || !strings.Contains(f.Error, "asks for a secret") {
		t.Errorf("a form with a secret is %s: %s", f.Status, f.Error)
	}
	s.admits = true
	b.waitForAsk(b.startRun("foreign", `{"Field":"password"}`), 0)
	if f := b.waitForEnd(b.startRun("own", `{"Field":"password"}`)); f.Status != runlog.Failed {
		t.Errorf("another photon's form with a secret is %s", f.Status)
	}

	s.takeSettled()
	id = b.startRun("own", `{"Field":"name"}`)
	askID, _ = b.waitForAsk(id, 0)
	b.acceptAsk(askID, `{"name":"Ada"}`)
	b.waitForEnd(id)
	if started, err := runlog.Decode[runlog.Started](b.entries(id)[0]); err != nil || !strings.Contains(string(started.Args), "name") {
		t.Errorf("of another photon, recorded are the arguments %s, %v", started.Args, err)
	}
	if settled := s.takeSettled(); len(settled) != 0 {
		t.Errorf("of another photon, settled is %+v", settled)
	}
}
