package jetstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// phaseVar makes this program measure one phase of BenchmarkMany in a process
// of its own.
const phaseVar = "BEAM_BENCH_PHASE"

// BenchmarkMany has so many runs wait for an answer, with three entries of 300
// bytes each in two appends, as the engine writes them. It fills a log in one
// process, and opens it in another after a clean end, and in a third after a
// kill. BEAM_BENCH_MILLION adds a million.
func BenchmarkMany(b *testing.B) {
	sizes := []int{10_000, 100_000}
	if os.Getenv("BEAM_BENCH_MILLION") != "" {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				for _, phase := range []string{"fill", "reopened", "killed"} {
					for name, v := range runPhase(b, phase, dir, n) {
						b.ReportMetric(v, phase+"-"+name)
					}
				}
			}
		})
	}
}

func runPhase(b *testing.B, phase, dir string, n int) map[string]float64 {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), phaseVar+"="+phase, writerDirVar+"="+dir, fmt.Sprintf("BEAM_BENCH_RUNS=%d", n))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var figures map[string]float64
	if err != nil && phase != "reopened" { // that one is killed
		b.Fatal(err)
	}
	if err := json.Unmarshal(out, &figures); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return figures
}

// measurePhase is a phase; see BenchmarkMany.
func measurePhase(phase, dir string, n int) error {
	begun := time.Now()
	l, err := jetstream.Open(context.Background(), jetstream.Options{Dir: dir})
	if err != nil {
		return err
	}
	figures := map[string]float64{"open-ms": milliseconds(time.Since(begun)), "open-MB": residentMB()}
	if phase == "fill" {
		err = fillMany(l, n, figures)
	} else {
		err = useMany(l, n, figures)
	}
	if err != nil {
		return err
	}
	figures["peak-MB"] = statusMB("VmHWM:")
	begun = time.Now()
	if phase == "fill" {
		err = l.Close()
		figures["close-ms"] = milliseconds(time.Since(begun))
	}
	if err := json.NewEncoder(os.Stdout).Encode(figures); err != nil {
		return err
	}
	if phase == "reopened" {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	return err
}

func runID(n int) string { return fmt.Sprintf("%032x", uint64(n)*0x9e3779b97f4a7c15) }

var smallEntry = runlog.Entry{Kind: "status", Data: json.RawMessage(`"` + strings.Repeat("x", 298) + `"`)}

func fillMany(l *jetstream.Log, n int, figures map[string]float64) error {
	begun := time.Now()
	var wg sync.WaitGroup
	failed := make(chan error, 8)
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < n-1000; i += 8 {
				if _, err := appendWaitingRun(l, i); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	figures["appends/s"] = float64(2*(n-1000)) / time.Since(begun).Seconds()
	var took []time.Duration
	for i := n - 1000; i < n; i++ {
		d, err := appendWaitingRun(l, i)
		if err != nil {
			return err
		}
		took = append(took, d...)
	}
	percentiles(figures, "append", took)
	figures["MB"] = residentMB()
	return nil
}

// appendWaitingRun starts a run that waits, and returns how long each append took.
func appendWaitingRun(l *jetstream.Log, i int) ([]time.Duration, error) {
	t0 := time.Now()
	_, err := l.Append(context.Background(), runID(i), 0, smallEntry, smallEntry)
	t1 := time.Now()
	if err == nil {
		_, err = l.Append(context.Background(), runID(i), 2, smallEntry)
	}
	return []time.Duration{t1.Sub(t0), time.Since(t1)}, err
}

// useMany lists and reads all runs, and appends to some.
func useMany(l *jetstream.Log, n int, figures map[string]float64) error {
	begun := time.Now()
	found := 0
	for _, err := range l.Runs(context.Background()) {
		if found++; err != nil {
			return err
		}
	}
	figures["runs-ms"] = milliseconds(time.Since(begun))
	begun = time.Now()
	entries := 0
	for a, err := range l.Scan(context.Background()) {
		if entries += len(a.Entries); err != nil {
			return err
		}
	}
	figures["scan-ms"], figures["scanned-MB"] = milliseconds(time.Since(begun)), residentMB()
	if found < n-200 || entries < 3*found {
		return fmt.Errorf("%d runs and %d entries of %d", found, entries, n)
	}
	var took []time.Duration
	for range 1000 {
		run := runID(rand.IntN(n))
		begun := time.Now()
		last := uint64(0)
		for batch, err := range l.Read(context.Background(), run, 0) {
			if err != nil {
				return err
			}
			last = batch[len(batch)-1].Seq
		}
		if _, err := l.Append(context.Background(), run, last, smallEntry); err != nil {
			return err
		}
		took = append(took, time.Since(begun))
	}
	percentiles(figures, "cold-read+append", took)
	figures["MB"] = residentMB()
	took = nil
	for i := range 200 {
		begun := time.Now()
		if err := l.Delete(context.Background(), runID(i*(n/200))); err != nil {
			return err
		}
		took = append(took, time.Since(begun))
	}
	percentiles(figures, "delete", took)
	return nil
}

func percentiles(figures map[string]float64, name string, took []time.Duration) {
	slices.Sort(took)
	figures[name+"-p50-µs"] = milliseconds(took[len(took)/2]) * 1000
	figures[name+"-p99-µs"] = milliseconds(took[len(took)*99/100]) * 1000
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// residentMB returns the resident memory after freeing what can be freed.
func residentMB() float64 {
	debug.FreeOSMemory()
	return statusMB("VmRSS:")
}

func statusMB(field string) float64 {
	raw, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(raw, []byte(field))
	kb, _ := strconv.ParseFloat(string(bytes.Fields(append(after, " 0"...))[0]), 64)
	return kb / 1024
}

// BenchmarkAppendLatency appends to one run after another.
func BenchmarkAppendLatency(b *testing.B) {
	for name, always := range map[string]bool{"interval": false, "always": true} {
		b.Run(name, func(b *testing.B) {
			l := openLog(b, jetstream.Options{Dir: b.TempDir(), SyncAlways: always})
			took := make([]time.Duration, 0, b.N)
			for i := range b.N {
				d, err := appendWaitingRun(l, i)
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, d...)
			}
			figures := make(map[string]float64)
			percentiles(figures, "append", took)
			for name, v := range figures {
				b.ReportMetric(v, name)
			}
		})
	}
}
