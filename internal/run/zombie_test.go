package run_test

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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// Two engines over one log stand for two processes, the first of which was
// taken for dead.
func TestAWorkerOfAnOlderEpochCantWrite(t *testing.T) {
	goOn := make(chan none)
	p := photon("worker", func(_ context.Context, yield generators.Yield) (string, error) {
		yield(generators.Status("begun"))
		if _, err := ask.Text(yield, "name", "Name?"); err != nil {
			return "", err
		}
		<-goOn
		yield(generators.Status("told once"))
		return "done", nil
	}, &generators.Options{Durable: true})
	o := options(t, p)
	zombie := open(t, o)
	id := zombie.start("worker", "")
	askID, _ := zombie.asked(id, 0)

	heir := open(t, o) // claims the run when it is answered
	heir.accept(askID, `{"name":"Ada"}`)
	close(goOn)
	if f := heir.finished(id); f.Status != log.Completed {
		t.Errorf("finished = %+v", f)
	}
	late := ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"Eve"}`)}
	if err := zombie.Answer(t.Context(), me, askID, late, "test"); !errors.Is(err, run.ErrSettled) {
		t.Errorf("an answer by the older process: %v", err)
	}
	if err := zombie.Cancel(t.Context(), me, id); err != nil {
		t.Errorf("a stop by the older process: %v", err)
	}
	want := []log.Kind{"started", "claimed", "status", "asked", "answered", "claimed", "status", "finished"}
	if got := kinds(heir.entries(id)); !slices.Equal(got, want) {
		t.Errorf("log = %v, want %v", got, want)
	}
}

// An answer that another process recorded reaches the generator here when it
// is next read of.
func TestAnotherProcessMayAnswer(t *testing.T) {
	b := newBench(t, greeter)
	id := b.start("greeter", "")
	askID, seq := b.asked(id, 0)
	answered := log.New(log.KindAnswered, log.Answered{Ask: seq, Answer: ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}})
	if _, err := b.log.Append(t.Context(), id, seq, answered); err != nil {
		t.Fatal(err)
	}
	if err := b.Answer(t.Context(), me, askID, ask.Answer{Action: ask.Decline}, "test"); !errors.Is(err, run.ErrSettled) {
		t.Errorf("a second answer: %v", err)
	}
	if f := b.finished(id); string(f.Result) != `"Hello, Ada"` {
		t.Errorf("finished = %+v", f)
	}
}

// A worker that is superseded while events wait in its batch writes none of
// them, nor an end of the run: its generator is told that it was let go.
func TestAWorkerSupersededInTheMiddleOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		p := photon("worker", func(ctx context.Context, yield generators.Yield) (string, error) {
			yield(generators.Status("written at once"))
			for yield(generators.Status("waits for the frame to be over")) {
				time.Sleep(time.Millisecond)
			}
			told <- context.Cause(ctx)
			yield(generators.Status("too late"))
			return "done", nil
		}, &generators.Options{Durable: true})
		b := newBench(t, p)
		id := b.start("worker", "")
		synctest.Wait() // the second event is in the batch
		claim := log.New(log.KindClaimed, log.Claimed{Epoch: 2})
		if _, err := b.log.Append(t.Context(), id, 3, claim, log.Entry{Kind: "status", Data: json.RawMessage(`{"text":"the heir's"}`)}); err != nil {
			t.Fatal(err)
		}
		if cause := <-told; !errors.Is(cause, generators.ErrSuspended) {
			t.Errorf("the generator was told %v", cause)
		}
		synctest.Wait()
		want := []log.Kind{"started", "claimed", "status", "claimed", "status"}
		if got := kinds(b.entries(id)); !slices.Equal(got, want) {
			t.Errorf("log = %v, want %v", got, want)
		}
		if info, err := b.Info(me, id); err != nil || info.State.Ended() || info.Last != 5 {
			t.Errorf("the run is %+v, %v", info, err)
		}
	})
}
