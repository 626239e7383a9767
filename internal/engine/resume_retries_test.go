package engine_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// A claimRefusingLog is a log that can reject claims.
type claimRefusingLog struct {
	runlog.Log
	refusing atomic.Bool
}

func (s *claimRefusingLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if s.refusing.Load() && len(entries) > 0 && entries[0].Kind == runlog.KindClaimed {
		return 0, errBroken
	}
	return s.Log.Append(ctx, run, after, entries...)
}

// newUnclaimableRuns returns an engine with answered runs that can't be
// resumed.
func newUnclaimableRuns(t *testing.T, n int) (b *testEngine, l *claimRefusingLog, p *twoAskPhoton) {
	t.Helper()
	p = new(twoAskPhoton)
	o := testOptions(t, p.newPhoton(true))
	l = &claimRefusingLog{Log: o.Log}
	o.Log = l
	b = openTestEngine(t, o)
	var asks []string
	for range n {
		askID, _ := b.waitForAsk(b.startRun("patient", ""), 0)
		asks = append(asks, askID)
	}
	time.Sleep(time.Hour) // until they are evicted
	synctest.Wait()
	l.refusing.Store(true)
	for _, id := range asks {
		b.acceptAsk(id, `{"first":"one"}`)
	}
	return b, l, p
}

// Runs that can't be resumed yet wait without a goroutine for each, and all of them
// continue when that is possible.
func TestResumeRetriesHoldNoGoroutines(t *testing.T) {
	const n = 2000
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		b, l, p := newUnclaimableRuns(t, n)
		time.Sleep(time.Minute + time.Second/2)
		synctest.Wait()
		if more := runtime.NumGoroutine() - before; more > 200 {
			t.Errorf("%d runs that wait for the next attempt have %d goroutines", n, more)
		}
		l.refusing.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if p.steps.Load() != n || b.CountOpenAsks(me) != n {
			t.Errorf("%d of %d runs continued, and %d questions are open", p.steps.Load(), n, b.CountOpenAsks(me))
		}
	})
}

// Close doesn't wait for runs that can't be resumed.
func TestCloseDoesNotWaitForResumeRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, _ := newUnclaimableRuns(t, 100)
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		if err := b.Close(ctx); err != nil || time.Since(began) > time.Second {
			t.Errorf("Close took %v: %v", time.Since(began), err)
		}
	})
}
