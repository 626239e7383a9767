package runlog_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

func TestMemory(t *testing.T) {
	runlogtest.RunSuite(t, func(*testing.T) runlog.Log { return runlog.NewMemory() })
}

func BenchmarkMemory(b *testing.B) {
	runlogtest.RunBenchmarks(b, func(*testing.B) runlog.Log { return runlog.NewMemory() })
}

// TestMemoryWakesItsFollowers checks that followers wait for appends and don't poll.
func TestMemoryWakesItsFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := runlog.NewMemory()
		mustAppend := func(after uint64, kind runlog.Kind) {
			t.Helper()
			if _, err := l.Append(t.Context(), "r", after, runlog.Entry{Kind: kind}); err != nil {
				t.Fatal(err)
			}
		}
		mustAppend(0, runlog.KindStarted)
		var seen []int
		go func() {
			for batch, err := range l.Follow(t.Context(), "r", 0) {
				if err != nil {
					t.Error(err)
				}
				seen = append(seen, len(batch))
			}
			seen = append(seen, -1)
		}()
		synctest.Wait()
		mustAppend(1, "status")
		synctest.Wait()
		mustAppend(2, "status")
		mustAppend(3, runlog.KindFinished)
		synctest.Wait()
		if got := fmt.Sprint(seen); got != "[1 1 2 -1]" && got != "[1 1 1 1 -1]" {
			t.Errorf("the batches were %s", got)
		}
	})
}

// TestMemoryStartsAgainWhileDeleting deletes and starts a run concurrently. Starting it
// must never fail with ErrNotFound.
func TestMemoryStartsAgainWhileDeleting(t *testing.T) {
	l := runlog.NewMemory()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if _, err := l.Append(t.Context(), "r", 0, runlog.Entry{Kind: "status"}); err != nil && err.Error() == runlog.ErrNotFound.Error() {
					t.Error("starting a run returned ErrNotFound")
				}
			}
		})
		wg.Go(func() {
			for range 500 {
				if err := l.Delete(t.Context(), "r"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
