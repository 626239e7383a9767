package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/rehearsal"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
)

// An operation is a part of a photon that a test makes and mutates.
type operation struct {
	do   string // text, confirm, step, status or go
	key  string
	text string      // of the question or status, or the type of the step's value
	body []operation // what each of two goroutines does; their keys are apart
}

// steps counts how often the functions of steps ran.
type steps struct {
	mu  sync.Mutex
	ran map[string]int
}

func (s *steps) run(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran[key]++
}

func perform(ctx context.Context, yield generators.Yield, ops []operation, s *steps) error {
	for _, o := range ops {
		var err error
		switch o.do {
		case "text":
			_, err = ask.Text(yield, o.key, o.text)
		case "confirm":
			_, err = ask.Confirm(yield, o.key, o.text)
		case "step":
			err = performStep(yield, o, s)
		case "status":
			yield(generators.Status(o.text))
		case "go":
			done := make(chan error, 2)
			for i := range cap(done) {
				body := slices.Clone(o.body)
				for j := range body {
					body[j].key += fmt.Sprint("/", i)
				}
				generators.Go(yield, func(ctx context.Context, yield generators.Yield) { done <- perform(ctx, yield, body, s) })
			}
			err = errors.Join(<-done, <-done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func performStep(yield generators.Yield, o operation, s *steps) (err error) {
	if o.text == "number" {
		_, err = generators.Step(yield, o.key, func(context.Context) (int, error) { s.run(o.key); return 1, nil })
	} else {
		_, err = generators.Step(yield, o.key, func(context.Context) (string, error) { s.run(o.key); return "value", nil })
	}
	return err
}

// A mutant is a photon that may have changed since its run began.
type mutant struct {
	ops            []operation
	input, version string
	output         bool // the result has another type
}

// newPhotonOf returns a photon with the input, the output and the code of a mutant.
func newPhotonOf(m mutant, s *steps) *generators.Photon {
	type base struct {
		Env string `json:"env"`
	}
	type optional struct {
		Env  string `json:"env"`
		More string `json:"more,omitempty"`
	}
	type required struct {
		Env  string `json:"env"`
		More string `json:"more"`
	}
	type number struct {
		Env int `json:"env"`
	}
	o := &generators.Options{Durable: true, Version: m.version}
	switch m.input {
	case "optional":
		return mutantPhoton[optional](m, s, o)
	case "required":
		return mutantPhoton[required](m, s, o)
	case "number":
		return mutantPhoton[number](m, s, o)
	}
	return mutantPhoton[base](m, s, o)
}

func mutantPhoton[In any](m mutant, s *steps, o *generators.Options) *generators.Photon {
	if m.output {
		return generators.New("mutant", func(ctx context.Context, _ In, yield generators.Yield) (int, error) {
			return 1, perform(ctx, yield, m.ops, s)
		}, o)
	}
	return generators.New("mutant", func(ctx context.Context, _ In, yield generators.Yield) (string, error) {
		return "done", perform(ctx, yield, m.ops, s)
	}, o)
}

// randomOperations returns some operations that make calls.
func randomOperations(r *rand.Rand) (ops []operation) {
	for i := range 3 + r.IntN(4) {
		ops = append(ops, randomOperation(r, fmt.Sprint("k", i)))
	}
	return append(ops, operation{do: "confirm", key: "last", text: "Done?"})
}

func randomOperation(r *rand.Rand, key string) operation {
	switch r.IntN(6) {
	case 0, 1:
		return operation{do: "text", key: key, text: "Name?"}
	case 2:
		return operation{do: "confirm", key: key, text: "Go?"}
	case 3, 4:
		return operation{do: "step", key: key, text: []string{"number", "text"}[r.IntN(2)]}
	}
	return operation{do: "go", key: key, body: []operation{{do: "step", key: key, text: "text"}, {do: "text", key: key + "q", text: "Who?"}}}
}

// mutations change a photon.
var mutations = map[string]func(r *rand.Rand, m *mutant){
	"nothing": func(*rand.Rand, *mutant) {},
	"a call is inserted": func(r *rand.Rand, m *mutant) {
		m.ops = slices.Insert(m.ops, r.IntN(len(m.ops)+1), randomOperation(r, "new"))
	},
	"a status is inserted": func(r *rand.Rand, m *mutant) {
		m.ops = slices.Insert(m.ops, r.IntN(len(m.ops)+1), operation{do: "status", text: "Hello"})
	},
	"a call is removed": func(r *rand.Rand, m *mutant) { i := r.IntN(len(m.ops)); m.ops = slices.Delete(m.ops, i, i+1) },
	"a call is renamed": func(r *rand.Rand, m *mutant) { m.ops[r.IntN(len(m.ops))].key = "renamed" },
	"calls are swapped": func(r *rand.Rand, m *mutant) {
		i := r.IntN(len(m.ops) - 1)
		m.ops[i], m.ops[i+1] = m.ops[i+1], m.ops[i]
	},
	"a text is changed": func(r *rand.Rand, m *mutant) {
		if o := &m.ops[r.IntN(len(m.ops))]; o.do == "text" || o.do == "confirm" {
			o.text += " Please."
		}
	},
	"a kind is changed": func(r *rand.Rand, m *mutant) {
		other := map[string]string{"text": "confirm", "confirm": "text", "step": "text", "go": "step"}
		o := &m.ops[r.IntN(len(m.ops))]
		o.do = other[o.do]
	},
	"a step's type is changed": func(r *rand.Rand, m *mutant) {
		for i, o := range m.ops {
			if o.do == "step" {
				m.ops[i].text = map[string]string{"number": "text", "text": "number"}[o.text]
			}
		}
	},
	"goroutines are added": func(r *rand.Rand, m *mutant) {
		if o := &m.ops[r.IntN(len(m.ops))]; o.do != "go" {
			*o = operation{do: "go", key: o.key, body: []operation{*o}}
		}
	},
	"an optional input is added": func(_ *rand.Rand, m *mutant) { m.input = "optional" },
	"a required input is added":  func(_ *rand.Rand, m *mutant) { m.input = "required" },
	"an input's type is changed": func(_ *rand.Rand, m *mutant) { m.input = "number" },
	"the output is changed":      func(_ *rand.Rand, m *mutant) { m.output = true },
	"the version is changed":     func(_ *rand.Rand, m *mutant) { m.version = "2" },
}

// expectParked says whether a run is parked whose photon was changed, if that is easy to tell: the
// code without goroutines makes the same calls up to the open question, or not.
func expectParked(m mutant, base []operation, recorded int) (parked, known bool) {
	if m.input == "required" || m.input == "number" || m.version == "2" {
		return true, true
	}
	hasGo := func(o operation) bool { return o.do == "go" }
	if slices.ContainsFunc(base, hasGo) || slices.ContainsFunc(m.ops, hasGo) {
		return false, false
	}
	calls := slices.DeleteFunc(slices.Clone(m.ops), func(o operation) bool { return o.do == "status" })
	if len(calls) < recorded || calls[recorded-1].key != base[recorded-1].key {
		return true, true
	}
	for _, o := range base[:recorded] { // those that have replies may come in another order
		same := func(c operation) bool { return c.do == o.do && c.key == o.key && (o.do != "step" || c.text == o.text) }
		if !slices.ContainsFunc(calls[:recorded], same) {
			return true, true
		}
	}
	return false, true
}

// A rehearsal on a changed photon predicts whether its run is parked, and runs no step. A run that
// is parked can't be answered, and goes on with the old photon; no step's function runs again
// whose outcome was recorded.
func TestRehearsalPredictsWhatHappens(t *testing.T) {
	names := slices.Sorted(maps.Keys(mutations))
	parked := 0
	for seed := range 210 {
		name := names[seed%len(names)]
		t.Run(fmt.Sprintf("%d %s", seed, name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				base := mutant{ops: randomOperations(r), version: "1"}
				changed := mutant{ops: slices.Clone(base.ops), version: "1"}
				mutations[name](r, &changed)
				if checkMutant(t, r, base, changed) {
					parked++
				}
			})
		})
	}
	if parked < 50 || parked > 160 {
		t.Errorf("%d of 210 mutants were parked: the mutations say little", parked)
	}
}

func checkMutant(t *testing.T, r *rand.Rand, base, changed mutant) (parked bool) {
	s := &steps{ran: make(map[string]int)}
	photons := func(m mutant) *registry.Registry { return testOptions(t, newPhotonOf(m, s)).Photons }
	o := testOptions(t, newPhotonOf(base, s))
	o.Program = func() string { return "the old program" }
	b := openTestEngine(t, o)
	id := b.startRun("mutant", `{"env":"prod"}`)
	synctest.Wait()
	for range r.IntN(4) {
		if info, _ := b.Info(me, id); len(info.Asks) > 0 && info.Asks[0].Key != "last" {
			b.acceptAny(info.Asks[0])
			synctest.Wait()
		}
	}
	b.closeNow()
	entries := b.entries(id)
	ran := maps.Clone(s.ran)

	rehearsed := o
	rehearsed.Photons = photons(changed)
	rehearsed.Program = func() string { return "the new program" }
	var found []rehearsal.Outcome
	if err := engine.NewProgram(rehearsed).RehearseAll(t.Context(), b.UnfinishedRuns(t.Context(), true), func(o rehearsal.Outcome) { found = append(found, o) }); err != nil || len(found) != 1 {
		t.Fatalf("rehearsed %+v, %v", found, err)
	}
	synctest.Wait()
	if n := len(b.entries(id)); n != len(entries) || !maps.Equal(s.ran, ran) {
		t.Errorf("the rehearsal recorded %d entries, and steps ran: %v, before %v", n-len(entries), s.ran, ran)
	}
	parked = found[0].Parked != nil
	if want, known := expectParked(changed, base.ops, countCalls(entries)); known && want != parked {
		t.Errorf("parked = %+v, want %t\nfrom %+v\n  to %+v", found[0].Parked, want, base.ops, changed.ops)
	}

	again := openTestEngine(t, rehearsed)
	info, err := again.Info(me, id)
	if err != nil || (info.State == engine.Parked) != parked {
		t.Fatalf("the run is %s, %v; predicted: %+v\nfrom %+v\n  to %+v", info.State, err, found[0], base.ops, changed.ops)
	}
	if parked {
		answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{}`)}
		if err := again.Answer(t.Context(), me, info.Asks[0].ID, answer, "test"); !errors.Is(err, engine.ErrParked) {
			t.Errorf("an answer: %v", err)
		}
		again.closeNow()
		o.Photons = photons(base)
		again = openTestEngine(t, o)
	}
	for range 100 {
		synctest.Wait()
		if info, err = again.Info(me, id); err != nil || len(info.Asks) == 0 {
			break
		}
		again.acceptAny(info.Asks[0])
	}
	if info.State != engine.Completed {
		t.Errorf("the run is %s, %v: %s\nfrom %+v\n  to %+v", info.State, info.Parked, info.Error, base.ops, changed.ops)
	}
	for key, n := range ran {
		if s.ran[key] != n {
			t.Errorf("the step %s, whose outcome was recorded, ran %d times", key, s.ran[key])
		}
	}
	return parked
}

// countCalls returns how many calls entries have.
func countCalls(entries []runlog.Entry) (n int) {
	for _, e := range entries {
		if e.Kind == runlog.KindAsked || e.Kind == runlog.KindStepped {
			n++
		}
	}
	return n
}

// acceptAny accepts a question.
func (b *testEngine) acceptAny(open engine.OpenAsk) {
	b.t.Helper()
	content := fmt.Sprintf(`{%q:"Ada"}`, open.Question.Fields[0].Name)
	if open.Question.Kind == askdata.KindConfirm {
		content = fmt.Sprintf(`{%q:true}`, open.Question.Fields[0].Name)
	}
	b.acceptAsk(open.ID, content)
}
