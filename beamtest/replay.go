package beamtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Replay tests that a durable photon survives crashes. It runs the photon as [Run] does,
// and returns the outcome. Then it runs the photon in Beam's engine, once without a crash
// and once for each point at which it can crash: after the start, and after each
// question, response and step is recorded. After a crash, the engine replays what was
// recorded, and the photon continues from there.
//
// It must continue as it does without a crash: with the same questions, down to their
// texts and choices, the same steps with the same values, the same events, and the same
// result or error. Otherwise the test fails. The message names the first crash after
// which the run differs, and the first difference. Either code outside of
// [generators.Step] is not deterministic, or a step has an effect on the photon other
// than by its return value.
//
// The value of a step may differ if it also differs without a crash, because the step
// draws a random number, for example; Replay then compares nothing after that step.
// [generators.Sleep] and SleepUntil return at once, and are points at which it can crash,
// too. If
// the photon starts goroutines with [generators.Go], Replay compares what each of them asks,
// records and yields, in its order, but not the order between them, nor progress, which may
// depend on the time; goroutines may also share the same work in another way. The functions of steps run many times, so they should have effects on
// nothing but the test's own data.
//
// The script's responses must be possible in Beam: answers that the questions accept, and
// no errors but [ask.ErrTimeout], [ask.ErrUnsupported] and [ask.ErrInvalid].
func Replay(t testing.TB, p *generators.Photon, args any, script Script) *Outcome {
	t.Helper()
	first := newRunner(t, p, args, script)
	if !p.Options().Durable {
		t.Fatalf("photon %s is not durable, so Beam never replays it: set generators.Options.Durable", p.Name())
	}
	if err := first.outcome.Err; err != nil {
		t.Fatalf("photon %s does not take the arguments: %v", p.Name(), err)
	}
	if fault := first.run(driver.WithCaller(t.Context(), caller)); fault != nil {
		t.Fatal(fault)
	}
	first.reportUnshown(t)
	if err := newReplayer(t, first).replayAll(t.Context()); err != nil {
		t.Error(err)
	}
	return first.outcome
}

// A replayer runs a photon in engines that share what survives a crash, apart from the
// log.
type replayer struct {
	*runner
	options engine.Options
	// recorded are the values of steps in runs without a crash, by key.
	recorded map[string][]string
}

// caller starts the runs and answers their questions.
var caller = generators.Caller{ID: "test"}

func newReplayer(t testing.TB, first *runner) *replayer {
	t.Helper()
	photons, err := registry.NewRegistry(first.photon)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blobs, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	root, _ := generators.Root(t.Context())
	r := &replayer{runner: first, recorded: make(map[string][]string), options: engine.Options{
		Photons: photons, AllowAll: true, SkipSleeps: true, Program: func() string { return "test" }, Blobs: blobs, KeyDir: filepath.Join(dir, "keys"), Root: root,
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
	}}
	r.noteSteps(first.outcome)
	return r
}

// noteSteps notes the values of the steps of a run without a crash.
func (r *replayer) noteSteps(o *Outcome) {
	for _, s := range o.Steps {
		r.recorded[s.Key] = append(r.recorded[s.Key], stepText(s.Value, s.Error))
	}
}

// replayAll runs the photon with every crash. The error is a *divergence, or says why the
// photon could not be run.
func (r *replayer) replayAll(ctx context.Context) error {
	whole, id, err := r.runWhole(ctx)
	if err != nil {
		return err
	}
	want, err := newHistory(whole)
	if err != nil {
		return err
	}
	for _, a := range want.actions {
		if a.kind == runlog.KindStepped {
			r.recorded[a.key] = append(r.recorded[a.key], a.text)
		}
	}
	for n := range whole {
		crash := want.crashes[n]
		if crash == "" {
			continue
		}
		entries, err := r.resume(ctx, id, whole[:n+1])
		if err != nil {
			return fmt.Errorf("photon %s, after a crash when %s: %w", r.photon.Name(), crash, err)
		}
		got, err := newHistory(entries)
		if err != nil {
			return err
		}
		if d := r.compare(ctx, got.actions, want.actions); d != nil {
			d.photon, d.crash, d.panic = r.photon.Name(), crash, got.panic
			return d
		}
	}
	return nil
}

// runWhole runs the photon without a crash.
func (r *replayer) runWhole(ctx context.Context) (entries []runlog.Entry, id string, err error) {
	err = r.withEngine(ctx, runlog.NewMemory(), func(e *engine.Engine) error {
		info, err := e.Start(ctx, caller, engine.StartRequest{Photon: r.photon.Name(), Args: r.args, Surface: "test"})
		if err != nil {
			return err
		}
		id = info.ID
		entries, err = r.finishRun(ctx, e, id)
		return err
	})
	return entries, id, err
}

// resume resumes a run of which the log has the recorded entries, and returns the
// entries of the whole run.
func (r *replayer) resume(ctx context.Context, id string, recorded []runlog.Entry) (entries []runlog.Entry, err error) {
	if recorded, err = shiftTimes(recorded); err != nil {
		return nil, err
	}
	log := runlog.NewMemory()
	if _, err := log.Append(ctx, id, 0, recorded...); err != nil {
		return nil, err
	}
	err = r.withEngine(ctx, log, func(e *engine.Engine) error {
		entries, err = r.finishRun(ctx, e, id)
		return err
	})
	return entries, err
}

// shiftTimes returns the entries as if the last of them were from now, so that no
// question expires because of the runs before.
func shiftTimes(entries []runlog.Entry) ([]runlog.Entry, error) {
	shift := time.Since(entries[len(entries)-1].Time)
	shifted := make([]runlog.Entry, len(entries))
	for i, e := range entries {
		if e.Kind == runlog.KindAsked {
			a, err := runlog.Decode[runlog.Asked](e)
			if err != nil {
				return nil, err
			}
			if !a.Deadline.IsZero() {
				a.Deadline = a.Deadline.Add(shift)
			}
			e.Data = runlog.NewEntry(e.Kind, a).Data
		}
		e.Time = e.Time.Add(shift)
		shifted[i] = e
	}
	return shifted, nil
}

// withEngine calls do with an engine that has resumed the runs of the log.
func (r *replayer) withEngine(ctx context.Context, log runlog.Log, do func(*engine.Engine) error) error {
	o := r.options
	o.Log = log
	e := engine.New(o)
	e.PauseDeletion() // for good: the key of a run's secrets is needed again after its end
	err := e.Recover(ctx)
	if err == nil {
		err = do(e)
	}
	now, cancel := context.WithCancel(ctx)
	cancel()
	return errors.Join(err, e.Close(now))
}

// finishRun responds to the questions of a run until it ends, and returns its entries.
func (r *replayer) finishRun(ctx context.Context, e *engine.Engine, id string) (entries []runlog.Entry, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var responses sync.WaitGroup
	defer responses.Wait()
	defer cancel(nil)
	batches, err := e.Follow(engine.WithPanics(ctx), callers.Operator(), id, 0)
	if err != nil {
		return nil, err
	}
	for batch, err := range batches {
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
		entries = append(entries, batch...)
		for _, entry := range batch {
			if entry.Kind == runlog.KindParked { // no other program comes here
				parked, err := runlog.Decode[runlog.Parked](entry)
				return append(entries, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Error: parked.Detail})), err
			}
			if entry.Kind != runlog.KindAsked {
				continue
			}
			responses.Go(func() {
				if err := r.respondTo(ctx, e, id, entry); err != nil && ctx.Err() == nil {
					cancel(err)
				}
			})
		}
	}
	return entries, nil
}

// respondTo responds to a question as the script says, if it is open.
func (r *replayer) respondTo(ctx context.Context, e *engine.Engine, id string, entry runlog.Entry) error {
	asked, err := runlog.Decode[runlog.Asked](entry)
	if err != nil {
		return err
	}
	askID := runlog.AskID(id, entry.Seq)
	if _, err := e.OpenAsk(ctx, caller, askID); err != nil {
		return ignoreSettled(err)
	}
	response, err := r.script.lookup(asked.Key, asked.Question)
	if err != nil {
		return err
	}
	if timeout := asked.Question.Timeout; timeout > 0 && response.delay >= time.Duration(timeout) {
		return nil // it expires
	}
	select {
	case <-time.After(time.Until(entry.Time.Add(response.delay))):
	case <-ctx.Done():
		return nil
	}
	if response.err != nil {
		return ignoreSettled(withdraw(ctx, e, askID, response.err))
	}
	by, err := response.by(asked.Key, asked.Question, caller)
	if err != nil {
		return err
	}
	if err := ignoreSettled(submit(ctx, e, by, askID, response.answer)); err != nil {
		return fmt.Errorf("the script's answer to %q: %w", asked.Key, err)
	}
	return nil
}

func ignoreSettled(err error) error {
	if errors.Is(err, engine.ErrSettled) {
		return nil
	}
	return err
}

// withdraw settles a question with an error.
func withdraw(ctx context.Context, e *engine.Engine, askID string, cause error) error {
	for known, reason := range map[error]runlog.WithdrawReason{
		ask.ErrTimeout: runlog.Expired, ask.ErrUnsupported: runlog.Unsupported, ask.ErrInvalid: runlog.Invalid,
	} {
		if errors.Is(cause, known) {
			return e.Withdraw(ctx, caller, askID, reason, "")
		}
	}
	return fmt.Errorf("no surface can end a question with the error %q; use ask.ErrTimeout, ask.ErrUnsupported or ask.ErrInvalid", cause)
}
