package log_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/logtest"
)

func TestMemory(t *testing.T) {
	logtest.Run(t, func(*testing.T) log.Log { return log.NewMemory() })
}

func BenchmarkMemory(b *testing.B) {
	logtest.Bench(b, func(*testing.B) log.Log { return log.NewMemory() })
}

// TestMemoryWakesItsFollowers: they wait, and don't look again and again.
func TestMemoryWakesItsFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := log.NewMemory()
		mustAppend := func(after uint64, kind log.Kind) {
			t.Helper()
			if _, err := l.Append(t.Context(), "r", after, log.Entry{Kind: kind}); err != nil {
				t.Fatal(err)
			}
		}
		mustAppend(0, log.KindStarted)
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
		mustAppend(3, log.KindFinished)
		synctest.Wait()
		if got := fmt.Sprint(seen); got != "[1 1 2 -1]" && got != "[1 1 1 1 -1]" {
			t.Errorf("the batches were %s", got)
		}
	})
}

// TestMemoryBeginsAgainWhileDeleting: a run that is deleted and begun at once
// is in one of the two states, never in between.
func TestMemoryBeginsAgainWhileDeleting(t *testing.T) {
	l := log.NewMemory()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 500 {
				if _, err := l.Append(t.Context(), "r", 0, log.Entry{Kind: "status"}); err != nil && err.Error() == log.ErrNotFound.Error() {
					t.Error("a run that begins was not found")
				}
			}
		})
		all.Go(func() {
			for range 500 {
				if err := l.Delete(t.Context(), "r"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
