package run_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/log"
)

// shut is a log that takes no claims while it is.
type shut struct {
	log.Log
	shut atomic.Bool
}

func (s *shut) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if s.shut.Load() && len(entries) > 0 && entries[0].Kind == log.KindClaimed {
		return 0, errBroken
	}
	return s.Log.Append(ctx, run, after, entries...)
}

// manyUnclaimed is an engine with answered runs that can't be taken up.
func manyUnclaimed(t *testing.T, n int) (b *bench, l *shut, p *patient) {
	t.Helper()
	p = new(patient)
	o := options(t, p.photon(true))
	l = &shut{Log: o.Log}
	o.Log = l
	b = open(t, o)
	var asks []string
	for range n {
		askID, _ := b.asked(b.start("patient", ""), 0)
		asks = append(asks, askID)
	}
	time.Sleep(time.Hour) // they are let go
	synctest.Wait()
	l.shut.Store(true)
	for _, id := range asks {
		b.accept(id, `{"first":"one"}`)
	}
	return b, l, p
}

// Runs that can't be taken up wait for their next try without a goroutine each,
// and all go on once they can.
func TestManyRunsThatCantBeTakenUpHoldNoGoroutines(t *testing.T) {
	const n = 2000
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		b, l, p := manyUnclaimed(t, n)
		time.Sleep(time.Minute + time.Second/2)
		synctest.Wait()
		if more := runtime.NumGoroutine() - before; more > 200 {
			t.Errorf("%d runs that wait for another try have %d goroutines", n, more)
		}
		l.shut.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if p.stepped.Load() != n || b.OpenAsks(me) != n {
			t.Errorf("%d of %d went on, and %d ask their next question", p.stepped.Load(), n, b.OpenAsks(me))
		}
	})
}

// They keep no engine from closing.
func TestACloseWaitsForNoRunThatCantBeTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, _ := manyUnclaimed(t, 100)
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		if err := b.Close(ctx); err != nil || time.Since(began) > time.Second {
			t.Errorf("it took %v to close: %v", time.Since(began), err)
		}
	})
}
