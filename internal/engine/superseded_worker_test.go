package engine_test

import (
	"context"
	"encoding/json"
	"errors"
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

// Two engines on one log stand for two processes, of which the second has taken over
// from the first.
func TestWorkerOfOlderEpochCannotWrite(t *testing.T) {
	goOn := make(chan none)
	p := newPhoton("worker", func(_ context.Context, yield generators.Yield) (string, error) {
		yield(generators.Status("begun"))
		if _, err := ask.Text(yield, "name", "Name?"); err != nil {
			return "", err
		}
		<-goOn
		yield(generators.Status("once"))
		return "done", nil
	}, &generators.Options{Durable: true})
	o := testOptions(t, p)
	zombie := openTestEngine(t, o)
	id := zombie.startRun("worker", "")
	askID, _ := zombie.waitForAsk(id, 0)

	successor := openTestEngine(t, o) // claims the run when it is answered
	successor.acceptAsk(askID, `{"name":"Ada"}`)
	close(goOn)
	if f := successor.waitForEnd(id); f.Status != runlog.Completed {
		t.Errorf("finished = %+v", f)
	}
	late := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Eve"}`)}
	if err := zombie.Answer(t.Context(), me, askID, late, "test"); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("an answer by the older process: %v", err)
	}
	if err := zombie.Cancel(t.Context(), me, id, "browser"); err != nil {
		t.Errorf("a stop by the older process: %v", err)
	}
	want := []runlog.Kind{"started", "claimed", "status", "asked", "answered", "claimed", "status", "finished"}
	if got := kindsOf(successor.entries(id)); !slices.Equal(got, want) {
		t.Errorf("log = %v, want %v", got, want)
	}
}

// An answer that another process recorded reaches the generator here the next
// time this process reads the log.
func TestAnotherProcessMayAnswer(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRun("greeter", "")
	askID, seq := b.waitForAsk(id, 0)
	answered := runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}})
	if _, err := b.log.Append(t.Context(), id, seq, answered); err != nil {
		t.Fatal(err)
	}
	if err := b.Answer(t.Context(), me, askID, askdata.Answer{Action: askdata.Decline}, "test"); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("a second answer: %v", err)
	}
	if f := b.waitForEnd(id); string(f.Result) != `"Hello, Ada"` {
		t.Errorf("finished = %+v", f)
	}
}

// A worker that is superseded while events wait in its batch records none of
// them, nor an end of the run: its generator is stopped with ErrSuspended.
func TestWorkerSupersededDuringBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopCause := make(chan error, 1)
		p := newPhoton("worker", func(ctx context.Context, yield generators.Yield) (string, error) {
			yield(generators.Status("written at once"))
			for yield(generators.Status("waits for the frame to be over")) {
				time.Sleep(time.Millisecond)
			}
			stopCause <- context.Cause(ctx)
			yield(generators.Status("too late"))
			return "done", nil
		}, &generators.Options{Durable: true})
		b := newTestEngine(t, p)
		id := b.startRun("worker", "")
		synctest.Wait() // until the second event is in the batch
		claim := runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 2})
		if _, err := b.log.Append(t.Context(), id, 3, claim, runlog.Entry{Kind: "status", Data: json.RawMessage(`{"text":"the heir's"}`)}); err != nil {
			t.Fatal(err)
		}
		if cause := <-stopCause; !errors.Is(cause, generators.ErrSuspended) {
			t.Errorf("the generator was stopped with %v", cause)
		}
		synctest.Wait()
		want := []runlog.Kind{"started", "claimed", "status", "claimed", "status"}
		if got := kindsOf(b.entries(id)); !slices.Equal(got, want) {
			t.Errorf("log = %v, want %v", got, want)
		}
		if info, err := b.Info(me, id); err != nil || info.State.Ended() || info.LastSeq != 5 {
			t.Errorf("the run is %+v, %v", info, err)
		}
	})
}
