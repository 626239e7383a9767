package runlogtest

import (
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// RunBenchmarks measures a log. Each benchmark calls open for a log of its own; open
// must close it with b.Cleanup.
func RunBenchmarks(b *testing.B, open func(b *testing.B) runlog.Log) {
	b.Run("Append", func(b *testing.B) { benchAppend(b, open(b), 1) })
	b.Run("AppendBatchOf64", func(b *testing.B) { benchAppend(b, open(b), 64) })
	b.Run("AppendNewRuns", func(b *testing.B) { benchNewRuns(b, open(b)) })
	b.Run("Read1000", func(b *testing.B) { benchRead(b, open(b)) })
	for _, followers := range []int{1, 100} {
		b.Run("FollowBy"+map[int]string{1: "1", 100: "100"}[followers], func(b *testing.B) { benchFollow(b, open(b), followers) })
	}
}

// benchAppend measures an entry, in appends of a given size.
func benchAppend(b *testing.B, l runlog.Log, size int) {
	run, batch := newRunID(), numberedEntries(1, size)
	b.ReportAllocs()
	for n := 0; n < b.N; n += size {
		if _, err := l.Append(b.Context(), run, uint64(n), batch...); err != nil {
			b.Fatal(err)
		}
	}
}

func benchNewRuns(b *testing.B, l runlog.Log) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(b.Context(), newRunID(), 0, numberedEntry(1)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRead(b *testing.B, l runlog.Log) {
	run := newRunID()
	appendNumbered(b, l, run, 0, 1000, 500)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range l.Read(b.Context(), run, 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// benchFollow measures the delivery of an entry to all followers.
func benchFollow(b *testing.B, l runlog.Log, followers int) {
	run := newRunID()
	appendNumbered(b, l, run, 0, 1, 1)
	var wg sync.WaitGroup
	for range followers {
		wg.Go(func() {
			for _, err := range l.Follow(b.Context(), run, 0) {
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		if _, err := l.Append(b.Context(), run, uint64(n+1), numberedEntry(n+2)); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := l.Append(b.Context(), run, uint64(b.N+1), finishedEntry); err != nil {
		b.Fatal(err)
	}
	wg.Wait()
}
