package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// exceeds reports whether err says that a budget is used up, by one owner or by all.
func exceeds(err error, byAll bool) bool {
	var exceeded *budget.ExceededError
	return errors.As(err, &exceeded) && exceeded.OfAll == byAll
}

// TestWorkingRuns checks the budget of runs that work: waiting ones don't count, an answer
// that would let one more work is refused while its question stays open, and a stopped run
// counts until its tool has returned.
func TestWorkingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stubborn := newPhoton("stubborn", func(context.Context, generators.Yield) (any, error) {
			<-release
			return nil, nil
		}, nil)
		o := testOptions(t, stubborn, greeter)
		o.Limits = engine.Limits{Working: budget.Limit{Each: 2, All: 4}}
		b := openTestEngine(t, o)
		defer close(release)
		start := func(c generators.Caller) (engine.Info, error) {
			return b.Start(t.Context(), c, engine.StartRequest{Photon: "stubborn"})
		}
		var waiting []string
		for range 10 {
			askID, _ := b.waitForAsk(b.startRun("greeter", ""), 0)
			waiting = append(waiting, askID)
		}
		first, err := start(me)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := start(me); err != nil {
			t.Fatal(err)
		}
		if _, err := start(me); !exceeds(err, false) {
			t.Errorf("a third run: %v", err)
		}
		answer := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"name":"Ada"}`)}
		if err := b.Answer(t.Context(), me, waiting[0], answer, "test"); !exceeds(err, false) {
			t.Errorf("an answer: %v", err)
		}
		for _, id := range []string{"second", "third"} {
			if _, err := start(generators.Caller{ID: id}); err != nil {
				t.Errorf("another owner's run: %v", err)
			}
		}
		if _, err := start(generators.Caller{ID: "fourth"}); !exceeds(err, true) {
			t.Errorf("a fifth run in all: %v", err)
		}
		if err := b.Cancel(t.Context(), me, first.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if _, err := start(me); !exceeds(err, false) {
			t.Errorf("a run beside one that doesn't stop: %v", err)
		}
		for range 4 {
			release <- struct{}{}
		}
		synctest.Wait()
		if used := b.Budgets()[0].Usage().Used; used != 0 {
			t.Errorf("%d runs work, want none", used)
		}
		for _, askID := range waiting {
			if err := b.Answer(t.Context(), me, askID, answer, "test"); err != nil {
				t.Errorf("an answer afterwards: %v", err)
			}
			synctest.Wait()
		}
	})
}

// TestBursts starts and answers many runs of one owner at once, which work for a while. All
// get their turn, and never do more work than may.
func TestBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each, burst = 10, 50
		var working atomic.Int32
		var tooMany atomic.Bool
		slow := newPhoton("slow", func(_ context.Context, yield generators.Yield) (any, error) {
			work := func() {
				if working.Add(1) > each {
					tooMany.Store(true)
				}
				time.Sleep(100 * time.Millisecond)
				working.Add(-1)
			}
			work()
			name, err := ask.Text(yield, "name", "Your name?")
			work()
			return name, err
		}, nil)
		o := testOptions(t, slow)
		o.Limits = engine.Limits{Working: budget.Limit{Each: each, All: 2 * each}}
		b := openTestEngine(t, o)
		ctx := engine.WithMaxWait(t.Context(), 2*time.Second)
		runs := make([]string, burst)
		var all sync.WaitGroup
		for i := range runs {
			all.Go(func() {
				r, err := b.Start(ctx, me, engine.StartRequest{Photon: "slow", IdempotencyKey: fmt.Sprint(i)})
				again, errAgain := b.Start(ctx, me, engine.StartRequest{Photon: "slow", IdempotencyKey: fmt.Sprint(i)})
				if runs[i] = r.ID; err != nil || errAgain != nil || again.ID != r.ID {
					t.Errorf("a start: %v, %v", err, errAgain)
				}
			})
		}
		all.Wait()
		for _, id := range runs {
			askID, _ := b.waitForAsk(id, 0)
			all.Go(func() {
				if err := b.Answer(ctx, me, askID, askdata.Answer{Action: askdata.Accept, Content: []byte(`{"name":"Ada"}`)}, "test"); err != nil {
					t.Errorf("an answer: %v", err)
				}
			})
		}
		all.Wait()
		time.Sleep(time.Second)
		if u := b.Budgets()[0].Usage(); u.Used != 0 || u.Refused != (budget.Refusals{}) || tooMany.Load() {
			t.Errorf("the usage is %+v; too many worked at once: %t", u, tooMany.Load())
		}
		for _, id := range runs {
			if f := b.waitForEnd(id); f.Status != runlog.Completed {
				t.Errorf("a run ended so: %+v", f)
			}
		}
	})
}

// TestDiskBudget checks the budget of disk: a tool that exceeds it fails, an upload is
// refused, and deleting runs makes room.
func TestDiskBudget(t *testing.T) {
	size := 600 << 10
	artist := newPhoton("artist", func(_ context.Context, yield generators.Yield) (any, error) {
		yield(generators.File("f", "application/octet-stream", bytes.Repeat([]byte{1}, size)))
		return nil, nil
	}, nil)
	filer := newPhoton("filer", func(_ context.Context, yield generators.Yield) (any, error) {
		_, err := ask.File(yield, "f", "A file?")
		return nil, err
	}, nil)
	o := testOptions(t, artist, filer)
	o.Limits = engine.Limits{Disk: budget.Limit{Each: 1 << 20, All: 10 << 20}}
	b := openTestEngine(t, o)
	first := b.startRun("artist", "")
	if f := b.waitForEnd(first); f.Status != runlog.Completed {
		t.Fatalf("the first run: %+v", f)
	}
	if f := b.waitForEnd(b.startRun("artist", "")); f.Status != runlog.Failed || !strings.Contains(f.Error, "too much space") {
		t.Errorf("the second run: %+v", f)
	}
	askID, _ := b.waitForAsk(b.startRun("filer", ""), 0)
	upload := func() error {
		_, _, err := b.Upload(t.Context(), me, askID, bytes.NewReader(make([]byte, size)))
		return err
	}
	if err := upload(); !exceeds(err, false) {
		t.Errorf("an upload: %v", err)
	}
	keep := 0
	if _, err := b.Prune(engine.PruneCriteria{Keep: &keep}, false); err != nil {
		t.Fatal(err)
	}
	if err := upload(); err != nil {
		t.Errorf("an upload, once runs are deleted: %v", err)
	}
	if used := b.Budgets()[2].Usage().Used; used != int64(size) {
		t.Errorf("%d bytes are in use, want %d", used, size)
	}
}

// TestUploadsAtOnce checks the budget of uploads, with one that never ends.
func TestUploadsAtOnce(t *testing.T) {
	filer := newPhoton("filer", func(_ context.Context, yield generators.Yield) (any, error) {
		_, err := ask.File(yield, "f", "A file?")
		return nil, err
	}, nil)
	o := testOptions(t, filer)
	o.Limits = engine.Limits{Uploads: budget.Limit{Each: 1, All: 2}}
	b := openTestEngine(t, o)
	askID, _ := b.waitForAsk(b.startRun("filer", ""), 0)
	body, feed := io.Pipe()
	done := make(chan error)
	go func() {
		_, _, err := b.Upload(t.Context(), me, askID, body)
		done <- err
	}()
	feed.Write([]byte("a")) // it has begun
	if _, _, err := b.Upload(t.Context(), me, askID, strings.NewReader("b")); !exceeds(err, false) {
		t.Errorf("a second upload: %v", err)
	}
	feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, _, err := b.Upload(t.Context(), me, askID, strings.NewReader("b")); err != nil {
		t.Errorf("an upload afterwards: %v", err)
	}
}

// TestWorkingRunsByDefault starts runs that work, as fast as possible, in one session.
func TestWorkingRunsByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := newPhoton("busy", func(ctx context.Context, _ generators.Yield) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, nil)
		o := testOptions(t, busy)
		o.Limits = engine.Limits{}
		b := openTestEngine(t, o)
		for range 10_259 {
			if _, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "busy"}); err != nil && !exceeds(err, false) {
				t.Fatal(err)
			}
		}
		if working := b.Counts().Runs[engine.Running]; working != 500 {
			t.Errorf("%d runs work, want 500", working)
		}
	})
}

// TestResultsAreBounded checks that a result is bounded as an artifact is.
func TestResultsAreBounded(t *testing.T) {
	p := newPhoton("big", func(context.Context, generators.Yield) (string, error) { return strings.Repeat("x", 3000), nil }, nil)
	o := testOptions(t, p)
	o.Limits.MaxArtifactBytes = 2000
	b := openTestEngine(t, o)
	if f := b.waitForEnd(b.startRun("big", "")); f.Status != runlog.Failed || !strings.Contains(f.Error, "the result has 3002 bytes, but at most 2000 are allowed") {
		t.Errorf("the end is %+v", f)
	}
}
