package evict_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/engine/evict"
)

// A run takes a while to evict; others come meanwhile.
type run struct {
	x      *evict.Evictor
	during func()
}

func (r *run) Evict() {
	r.during()
	r.x.Remove(r)
}

// Runs that come while others are evicted are soon evicted, too, if there are too many.
func TestTooManyComeDuringEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 10
		x := evict.New(time.Hour, most)
		closing := make(chan struct{})
		defer close(closing)
		go x.Run(closing)
		add := func(during func()) {
			time.Sleep(time.Nanosecond) // each has waited longer than the next
			x.Add(&run{x, during}, evict.Idleness{Since: time.Now()})
		}
		add(func() {
			for range 50 {
				add(func() {})
			}
		})
		for range most {
			add(func() {})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := x.Count(); n != most {
			t.Errorf("%d runs are in memory, want %d", n, most)
		}
	})
}
