package retention_test

import (
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/engine/retention"
	"github.com/photon-beam/beam/internal/runlist"
)

// Once a keeper closes, it deletes no more runs, so that the store can be closed.
func TestDeletionEndsWhenClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		var begun atomic.Int64
		k := &retention.Keeper{
			Limits: retention.Limits{MaxRuns: 1, MaxPerOwner: 1, Longest: time.Hour},
			Ended: func() iter.Seq2[*runlist.Row, error] {
				return func(yield func(*runlist.Row, error) bool) {
					for i := range 100 {
						if !yield(&runlist.Row{ID: fmt.Sprint(i)}, nil) {
							return
						}
					}
				}
			},
			Size: func(string) int64 { return 0 },
			DeleteRun: func(string) (bool, error) {
				if begun.Add(1) == 1 {
					close(closing)
				}
				return true, nil
			},
			Closing: closing,
		}
		go k.Run()
		<-closing
		k.Pause()
		n := begun.Load()
		if n > 5 {
			t.Errorf("%d of 100 runs were deleted", n)
		}
		time.Sleep(time.Hour)
		if later := begun.Load(); later != n {
			t.Errorf("%d runs were deleted after the pause", later-n)
		}
	})
}
