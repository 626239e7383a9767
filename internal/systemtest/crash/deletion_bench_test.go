package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// BenchmarkDeletion measures how long answers take to bring what comes next while many runs,
// N of BEAM_BENCH_RUNS or 100,000, are deleted; before that; and how far the database shrinks.
func BenchmarkDeletion(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("BEAM_BENCH_RUNS"))
	if err != nil {
		n = 100_000
	}
	for b.Loop() {
		data := filepath.Join(b.TempDir(), "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			b.Fatal(err)
		}
		fillFinished(b, data, n)
		p := &program{t: b, bin: buildProgram(b), data: data, args: []string{"--keep-for", "1000w"}}
		p.start()
		b.Cleanup(p.kill)
		c := newClient(b, p)
		turn := 0
		measure := func(name string, isOver func() bool) {
			c.asked = nil
			for turn++; !isOver(); turn++ {
				if _, _, err := c.completeRun(b.Context(), "wizard", "{}", fmt.Sprint(turn)); err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(c.asked)
			b.ReportMetric(float64(c.asked[len(c.asked)/2].Microseconds())/1000, "ms/"+name+"-p50")
			b.ReportMetric(float64(c.asked[len(c.asked)*99/100].Microseconds())/1000, "ms/"+name+"-p99")
		}
		began := time.Now()
		measure("quiet", func() bool { return time.Since(began) > 5*time.Second })
		pruned := make(chan error, 1)
		before := databaseSize(b, data)
		began = time.Now()
		go func() {
			out, err := exec.Command(p.bin, "prune", "--data", data, "--older-than", "10s").CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			pruned <- err
		}()
		isDone := false
		measure("deleting", func() bool {
			select {
			case err := <-pruned:
				isDone = true
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n)/time.Since(began).Seconds(), "deleted/s")
			default:
			}
			return isDone
		})
		began = time.Now()
		if !programtest.Poll(func() bool { return databaseSize(b, data) < before/2 }) {
			b.Error("the database doesn't shrink")
		}
		b.ReportMetric(float64(databaseSize(b, data))/float64(before), "size-after/before")
		b.ReportMetric(time.Since(began).Seconds(), "s-to-shrink")
	}
	b.ReportMetric(0, "ns/op")
}

func databaseSize(b *testing.B, data string) int64 {
	info, err := os.Stat(filepath.Join(data, "beam.db"))
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// fillFinished makes a data folder with runs that have ended.
func fillFinished(b *testing.B, data string, n int) {
	s, err := store.Open(b.Context(), store.Options{Dir: data, Sync: store.SyncInterval})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	var wg sync.WaitGroup
	hourAgo := time.Now().Add(-time.Hour)
	for w := range 64 {
		wg.Go(func() {
			for i := w; i < n; i += 64 {
				entries := []runlog.Entry{
					runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "deploy", Durable: true, Owner: fmt.Sprint("user:", i%100), Args: json.RawMessage(`{"env":"production","version":"1.4.2"}`)}),
					runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1, Program: "00c0ffee00c0ffee", Goroutines: true}),
					runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed, Result: json.RawMessage(`"deployed"`)}),
				}
				for j := range entries {
					entries[j].Time = hourAgo
				}
				if _, err := s.Append(b.Context(), fmt.Sprintf("%032x", uint64(i)*0x9e3779b97f4a7c15), 0, entries...); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
