package engine_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// However many runs end at about the same time, a caller can still read the end of its
// run for a while.
func TestFinishedRunIsRetainedAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, twoConfirms)
		o.Limits = engine.Limits{MaxFinishedPerOwner: 3, MaxFinished: 5}
		b := openTestEngine(t, o)
		var ids []string
		ended := make(chan string, 50)
		for range cap(ended) {
			id := b.startRun("twice", "")
			_, seq := b.waitForAsk(id, 0)
			if _, err := b.AddWaiter(me, id, seq, funcWaiter(func() { ended <- id })); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Second)
		synctest.Wait()
		for range ids {
			if f := b.waitForEnd(<-ended); f.Status != runlog.Stopped {
				t.Errorf("finished = %+v", f)
			}
		}
		time.Sleep(30 * time.Second) // more than a minute and a quarter in all
		synctest.Wait()
		if n := len(allRunIDs(b)); n != 3 {
			t.Errorf("%d runs are left, want 3", n)
		}
	})
}

// A burst of runs is deleted while it lasts, not at the next period.
func TestBurstIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, echo)
		o.Limits = engine.Limits{MaxFinishedPerOwner: 3, MaxFinished: 5}
		b := openTestEngine(t, o)
		synctest.Wait()
		start := time.Now()
		for range 1000 {
			b.waitForEnd(b.startRun("echo", `{"text":"x"}`))
		}
		synctest.Wait()
		if n := len(allRunIDs(b)); n > 60 || time.Since(start) > 10*time.Second {
			t.Errorf("%d runs are left after %v", n, time.Since(start))
		}
	})
}

// A run isn't deleted during a loop over its entries, however slow it is.
func TestRunBeingReadIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, echo)
		o.Limits = engine.Limits{MaxFinishedPerOwner: 1, RetainFor: time.Hour}
		b := openTestEngine(t, o)
		slow := b.startRun("echo", `{"text":"slow"}`)
		b.waitForEnd(slow)
		for name, loop := range map[string]func() (iter.Seq2[[]runlog.Entry, error], error){
			"follow": func() (iter.Seq2[[]runlog.Entry, error], error) {
				return b.Follow(context.Background(), me, slow, 0)
			},
			"read": func() (iter.Seq2[[]runlog.Entry, error], error) { return b.Read(context.Background(), me, slow, 0) },
			"read after": func() (iter.Seq2[[]runlog.Entry, error], error) {
				return b.Read(context.Background(), me, slow, 1)
			},
		} {
			batches, err := loop()
			if err != nil {
				t.Fatal(name, err)
			}
			next, stop := iter.Pull2(batches)
			if _, err, _ := next(); err != nil {
				t.Fatal(name, err)
			}
			b.waitForEnd(b.startRun("echo", `{"text":"x"}`))
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if _, err := b.Info(me, slow); err != nil {
				t.Errorf("%s: the run was deleted while it was read: %v", name, err)
			}
			stop()
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if _, err := b.Info(me, slow); err == nil {
			t.Error("the run wasn't deleted after the loop")
		}
	})
}
