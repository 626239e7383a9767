// Package beamtest helps to test photons.
//
// [Run] runs a photon to its end with a [Script] in the place of a person: a map from
// the keys of the photon's questions to responses. It returns what came of it, as plain
// values to compare with ==, package slices, [reflect.DeepEqual] or any library; see the
// first example. The package has no assertions of its own. A question that the script
// doesn't answer fails the test, with a message that says what to add to the script.
//
// [Replay] does the same for a durable photon, and then runs it again for each of its
// recorded calls, with a crash after the call. It finds code outside of
// [generators.Step] that behaves differently when it runs again.
//
// [Pipe] connects any MCP client to a Beam in memory.
//
// All of them work in the bubbles of [testing/synctest], where questions expire and
// people think for hours while the test takes no time.
package beamtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/registry"
)

// An Outcome is what came of a run. Its fields are plain values, for the test to
// compare.
type Outcome struct {
	// Result is what the photon returned, as JSON; nil if it returned an error. See
	// [Decode].
	Result json.RawMessage
	// Err is the error that the photon returned, for use with [errors.Is] and
	// [errors.As], or a [*generators.InvalidError] if the arguments are invalid.
	Err error
	// Events are what the photon yielded for people to see: statuses, progress, log
	// lines, chunks, toasts and artifacts.
	Events []generators.Event
	// At has, for each of the events, the time from the start of the run until it was
	// yielded. It is exact in a synctest bubble.
	At []time.Duration
	// Asked are the keys of the questions, in the order in which they were asked. A
	// repeated key has its suffix, as in "name#2".
	Asked []string
	// Questions are the questions by key.
	Questions map[string]*Question
	// Steps are the recorded steps, in the order in which they ended.
	Steps []*generators.Stepped
}

func newOutcome() *Outcome { return &Outcome{Questions: make(map[string]*Question)} }

// Statuses returns the texts of the statuses among the events, in order.
func (o *Outcome) Statuses() []string {
	var texts []string
	for _, e := range o.Events {
		if s, ok := e.(*generators.StatusEvent); ok {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Decode decodes the result of a run into a T. If the run failed, or its result is not a
// T, Decode ends the test with [testing.TB.Fatalf].
func Decode[T any](t testing.TB, o *Outcome) T {
	t.Helper()
	var v T
	if o.Err != nil {
		t.Fatalf("the run failed: %v", o.Err)
	}
	if err := json.Unmarshal(o.Result, &v); err != nil {
		t.Fatalf("decoding the result %s: %v", o.Result, err)
	}
	return v
}

// Run runs a photon to its end and returns what came of it. Args are a value of the
// photon's input type, or its JSON as a string, a []byte or a [json.RawMessage]; nil is
// an empty object. The script answers the questions.
//
// Run validates arguments and answers as Beam does. If the arguments are invalid,
// [Outcome.Err] says why. If an answer is invalid, asking returns a
// [*generators.InvalidError]; a surface would instead ask the person to correct it.
//
// The test fails if Beam would refuse to register the photon, if the script doesn't
// answer a question, or if the photon panics. It also fails if a confirmation of something
// that can't be undone shows nothing; see [ask.Showing].
//
// The caller who starts the run ([generators.CallerOf]) and answers the questions has the
// ID test, unless the context has another; see [WithCaller] and [RunContext].
// Run doesn't ask [generators.Options.Allow] whether the caller may use the photon.
//
// [generators.Sleep] and SleepUntil return at once.
//
// Run keeps no log, so that the errors and events are the photon's own values; [Replay]
// keeps one. Run doesn't enforce [generators.Options.TimeLimit]. The photon's context
// derives from the test's.
func Run(t testing.TB, p *generators.Photon, args any, script Script) *Outcome {
	t.Helper()
	return RunContext(t.Context(), t, p, args, script)
}

// RunContext is like [Run], but the photon's context derives from ctx: a context that
// ends, for example, or one that allows the photon to read a folder
// ([WithRoot]).
func RunContext(ctx context.Context, t testing.TB, p *generators.Photon, args any, script Script) *Outcome {
	t.Helper()
	r := newRunner(t, p, args, script)
	if r.outcome.Err == nil {
		if fault := r.run(ctx); fault != nil {
			t.Error(fault)
		}
		r.reportUnshown(t)
	}
	return r.outcome
}

// encodeArgs returns the JSON of a photon's arguments.
func encodeArgs(args any) (json.RawMessage, error) {
	switch args := args.(type) {
	case nil:
		return nil, nil
	case string:
		return json.RawMessage(args), nil
	case []byte:
		return args, nil
	case json.RawMessage:
		return args, nil
	}
	return json.Marshal(args)
}

// A runner runs a photon once.
type runner struct {
	photon  *generators.Photon
	args    json.RawMessage
	script  Script
	outcome *Outcome
	began   time.Time
	// concurrent is true if the generator has started goroutines with generators.Go.
	concurrent bool
	delayed    sync.WaitGroup // responses that take time
	// unshown are the keys of the confirmations of something that can't be undone that
	// show nothing.
	unshown []string
}

// reportUnshown fails the test if the person would have had to confirm blindly.
func (r *runner) reportUnshown(t testing.TB) {
	t.Helper()
	for _, key := range r.unshown {
		fault := fmt.Errorf("photon %s confirms %q, which can't be undone, and shows nothing: add ask.Showing with what the person decides by, "+
			"or ask.Showing() if the message says it all", r.photon.Name(), key)
		t.Error(fault)
	}
}

// newRunner returns a runner. The outcome has an error if the photon doesn't take the
// arguments.
func newRunner(t testing.TB, p *generators.Photon, args any, script Script) *runner {
	t.Helper()
	if _, err := registry.NewRegistry(p); err != nil {
		t.Fatalf("Beam refuses to register the photon: %v", err)
	}
	raw, err := encodeArgs(args)
	if err != nil {
		t.Fatalf("the arguments can't be encoded as JSON: %v", err)
	}
	r := &runner{photon: p, script: script, outcome: newOutcome()}
	r.args, r.outcome.Err = p.Check(raw)
	return r
}

// run runs the photon. The fault is what is wrong with the photon or the script.
func (r *runner) run(ctx context.Context) (fault error) {
	r.began = time.Now()
	if generators.CallerOf(ctx).ID == "" {
		ctx = driver.WithCaller(ctx, caller)
	}
	generator, o := driver.Prepare(ctx, r.photon, r.args), r.outcome
	for e, err := range generator.All {
		r.concurrent = generator.Concurrent()
		if o.Err = err; err == nil {
			o.Err = r.handleEvent(e)
		}
		if o.Err != nil {
			break
		}
	}
	r.delayed.Wait()
	if panicked, ok := errors.AsType[*driver.PanicError](o.Err); ok {
		return fmt.Errorf("photon %s panicked: %v\n%s", r.photon.Name(), panicked.Value, panicked.Stack)
	}
	if fault, ok := errors.AsType[*scriptError](o.Err); ok {
		return fault
	}
	return nil
}

// handleEvent handles an event or a call. It is called in the loop over the events, which is never
// in two goroutines at once. The error is a *scriptError.
func (r *runner) handleEvent(e any) error {
	switch e := e.(type) {
	case *generators.Result:
		r.outcome.Result = e.Value
	case *generators.Stepped:
		r.outcome.Steps = append(r.outcome.Steps, e)
	case *driver.Call:
		if q, ok := askdata.Of(e); ok {
			return r.respond(e, q)
		}
		if e.Kind == driver.SleepKind {
			e.Settle(driver.Reply{})
		}
	case generators.Event:
		r.outcome.Events = append(r.outcome.Events, e)
		r.outcome.At = append(r.outcome.At, time.Since(r.began))
	}
	return nil
}

// respond settles a question, or has it settled later. The error is a *scriptError.
func (r *runner) respond(c *driver.Call, q *askdata.Question) error {
	r.outcome.Asked = append(r.outcome.Asked, c.Key)
	r.outcome.Questions[c.Key] = newQuestion(q)
	if q.Destructive && q.Evidence == nil {
		r.unshown = append(r.unshown, c.Key)
	}
	response, err := r.script.lookup(c.Key, q)
	if err != nil {
		return err
	}
	by, err := response.by(c.Key, q, generators.CallerOf(c.Context()))
	if err != nil {
		return err
	}
	reply, delay := response.reply(q), response.delay
	if response.err == nil {
		reply.By = &by
	}
	if timeout := time.Duration(q.Timeout); timeout > 0 && delay >= timeout {
		reply, delay = driver.Reply{Err: ask.ErrTimeout}, timeout
	}
	if delay <= 0 {
		c.Settle(reply)
		return nil
	}
	r.delayed.Go(func() {
		select {
		case <-time.After(delay):
			c.Settle(reply)
		case <-c.Context().Done():
		}
	})
	return nil
}
