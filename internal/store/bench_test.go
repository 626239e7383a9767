package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// BenchmarkWaitingRuns has many runs wait for an answer, and measures opening, lists and
// answers. BEAM_BENCH_MILLION makes it a million.
func BenchmarkWaitingRuns(b *testing.B) {
	n := 100_000
	if os.Getenv("BEAM_BENCH_MILLION") != "" {
		n = 1_000_000
	}
	b.Run(strconv.Itoa(n), func(b *testing.B) {
		for b.Loop() {
			dir := b.TempDir()
			begun := time.Now()
			s := openStore(b, store.Options{Dir: dir, Sync: store.SyncInterval})
			fillWaiting(b, s, n)
			b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "filled/s")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(dir, "beam.db"))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/float64(n), "B/run")
			begun = time.Now()
			s = openStore(b, store.Options{Dir: dir})
			b.ReportMetric(float64(time.Since(begun).Microseconds())/1000, "open-ms")
			measureLists(b, s, n)
			b.ReportMetric(float64(statusKB("VmRSS:"))/1024, "RSS-MB")
		}
	})
}

func runID(n int) string { return fmt.Sprintf("%032x", uint64(n)*0x9e3779b97f4a7c15) }

// fillWaiting starts runs as the engine does: a start and a claim, and then a question.
func fillWaiting(b *testing.B, s *store.Store, n int) {
	question := &askdata.Question{Kind: askdata.KindConfirm, Message: "Deploy version 1.4.2 to production?", Fields: askdata.Fields{{Name: "ok", Type: "boolean", Title: "Deploy", Required: true}}}
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for i := w; i < n; i += 64 {
				start := runlog.Started{Photon: "deploy", Title: "Deploy", Durable: true, Owner: fmt.Sprint("user:", i%100), Surface: "browser", Args: json.RawMessage(`{"env":"production","version":"1.4.2"}`)}
				_, err := s.Append(b.Context(), runID(i), 0, runlog.NewEntry(runlog.KindStarted, start), runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1, Program: "00c0ffee00c0ffee", Goroutines: true}))
				if err == nil {
					_, err = s.Append(b.Context(), runID(i), 2, runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "go", Question: question, Deadline: time.Now().Add(time.Duration(i) * time.Second)}))
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func measureLists(b *testing.B, s *store.Store, n int) {
	ctx, i := b.Context(), 0
	for name, do := range map[string]func() error{
		"owner's-50-newest": func() error {
			_, err := s.RunsOf(ctx, fmt.Sprint("user:", i%100), runlist.Position{}, 50)
			return err
		},
		"50-open-asks": func() error {
			_, err := s.Asks(ctx, runlist.AskFilter{Owner: fmt.Sprint("user:", i%100)}, runlist.Position{}, 50)
			return err
		},
		"counts":   func() error { _, err := s.CountOf(ctx, ""); return err },
		"next-due": func() error { _, err := s.Due(ctx, runlist.Position{}, 1); return err },
		"cold-run": func() error { _, err := s.Row(ctx, runID(i*7919%n)); return err },
		"answer": func() error {
			_, err := s.Append(ctx, runID(i*7919%n), 3, runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 3}))
			return err
		},
	} {
		const times = 1000
		begun := time.Now()
		for i = range times {
			if err := do(); err != nil {
				b.Fatal(name, err)
			}
		}
		b.ReportMetric(float64(time.Since(begun).Microseconds())/times, name+"-µs")
	}
	runtime.GC()
}

// statusKB returns a figure of this process in kilobytes.
func statusKB(name string) int {
	raw, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(raw), name)
	var kb int
	_, _ = fmt.Sscan(rest, &kb)
	return kb
}
