// Package million measures a great many runs that wait for answers, in the real
// engine on the durable log. Each phase runs in a process of its own. The
// results are in docs/benchmarks.md.
package million

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The environment of a phase's process.
const (
	phaseVar = "BEAM_MILLION_PHASE"
	dirVar   = "BEAM_MILLION_FOLDER"
	runsVar  = "BEAM_MILLION_RUNS"
)

func TestMain(m *testing.M) {
	if phase := os.Getenv(phaseVar); phase != "" {
		n, err := strconv.Atoi(os.Getenv(runsVar))
		if err == nil {
			err = runPhase(phase, os.Getenv(dirVar), n)
		}
		fmt.Fprintln(os.Stderr, phase, err) // a successful phase exits or is killed instead
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// runCounts returns the numbers of waiting runs to test. If BEAM_MILLION is
// set, they include a million, which takes some minutes and 2 GB of disk space.
func runCounts(t *testing.T) []int {
	if testing.Short() || raceEnabled {
		return []int{1_000}
	}
	all := []int{10_000, 100_000}
	if os.Getenv("BEAM_MILLION") != "" {
		all = append(all, 1_000_000)
	}
	return all
}

// Limits of the memory of waiting runs. Times are checked only if BEAM_MILLION
// is set, on a machine without other load.
const (
	maxMB         = 100      // of a process, however many runs wait in the store
	residentBytes = 16 << 10 // for each whose generator waits in memory
	maxReadyMs    = 200      // until a million are ready again
	maxAnswerMs   = 50       // until a run has gone on, at the 99th percentile
)

// TestWaitingRuns checks that all runs are there, and use no memory, after
// they were started, after a restart, after random answers, and after a kill
// -9.
func TestWaitingRuns(t *testing.T) {
	for _, n := range runCounts(t) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			dir := t.TempDir()
			for _, phase := range []string{"filled", "restarted", "killed"} {
				f := runPhaseInChild(t, phase, dir, n)
				logFigures(t, phase, f)
				if f["at-most-MB"] > maxMB && !raceEnabled {
					t.Errorf("%s: it took %.0f MB of memory, want at most %d", phase, f["at-most-MB"], maxMB)
				}
				if os.Getenv("BEAM_MILLION") == "" {
					continue
				}
				if f["ready-ms"] > maxReadyMs {
					t.Errorf("%s: it took %.0f ms until all were ready", phase, f["ready-ms"])
				}
				if f["answered-p99-ms"] > maxAnswerMs {
					t.Errorf("%s: an answer took %.0f ms at the 99th percentile", phase, f["answered-p99-ms"])
				}
			}
		})
	}
}

// TestResidentWaitingRuns measures runs whose generators wait in memory.
func TestResidentWaitingRuns(t *testing.T) {
	n := min(runCounts(t)[len(runCounts(t))-1], 100_000)
	f := runPhaseInChild(t, "resident", t.TempDir(), n)
	logFigures(t, "resident", f)
	if each := (f["resident-MB"] - f["empty-MB"]) * (1 << 20) / float64(n); n >= 10_000 && each > residentBytes {
		t.Errorf("a run that waits in memory takes %.0f bytes, want at most %d", each, residentBytes)
	}
}

// runPhaseInChild runs a phase in a child process and returns its measurements.
func runPhaseInChild(t *testing.T, phase, dir string, n int) map[string]float64 {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), phaseVar+"="+phase, dirVar+"="+dir, fmt.Sprint(runsVar, "=", n))
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	var figures map[string]float64
	if json.Unmarshal(out, &figures) != nil {
		t.Fatalf("%s: %v: %s", phase, err, out)
	}
	return figures
}

func logFigures(t *testing.T, phase string, figures map[string]float64) {
	t.Helper()
	load, _ := os.ReadFile("/proc/loadavg")
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		fmt.Fprintf(&b, "\n%20s %12.1f", name, figures[name])
	}
	t.Logf("%s, with a load of %.4s:%s", phase, load, b.String())
}
