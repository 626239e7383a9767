// Package million has a great many runs wait for their answers at once, in the
// real engine on the durable log, each phase in a process of its own, and
// measures what that takes. docs/benchmarks.md has the figures.
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

// What tells a process of this program which phase it is.
const (
	phaseVar  = "BEAM_MILLION_PHASE"
	folderVar = "BEAM_MILLION_FOLDER"
	runsVar   = "BEAM_MILLION_RUNS"
)

func TestMain(m *testing.M) {
	if phase := os.Getenv(phaseVar); phase != "" {
		n, err := strconv.Atoi(os.Getenv(runsVar))
		if err == nil {
			err = perform(phase, os.Getenv(folderVar), n)
		}
		fmt.Fprintln(os.Stderr, phase, err) // a phase that is done is killed, or ends
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// sizes are how many runs wait. BEAM_MILLION adds a million, which takes some
// minutes and 2 GB of the disk.
func sizes(t *testing.T) []int {
	if testing.Short() || racing {
		return []int{1_000}
	}
	all := []int{10_000, 100_000}
	if os.Getenv("BEAM_MILLION") != "" {
		all = append(all, 1_000_000)
	}
	return all
}

// Limits of what runs that wait may take. Time is held to its aim only where
// the machine was set aside for it.
const (
	fewMB     = 200   // of a process with few runs, or the 10,000 whose generators wait
	coldBytes = 1_200 // more for each that waits
	peakMB    = 350   // the same, when most is in use: a million stay under 2 GB
	peakBytes = 1_600
	hotBytes  = 16_384 // for each whose generator waits in memory
	ready     = 30_000 // ms until a million are ready again
	answered  = 50     // ms until a run has gone on, at the 99th percentile
)

// TestRunsThatWait are all there, and few bytes each, when they were started,
// after a restart, after answers at random, and after a kill -9.
func TestRunsThatWait(t *testing.T) {
	for _, n := range sizes(t) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			dir := t.TempDir()
			for _, phase := range []string{"filled", "restarted", "killed"} {
				f := child(t, phase, dir, n)
				report(t, phase, f)
				for name, most := range map[string]float64{
					"resident-MB": fewMB + float64(n)*coldBytes/(1<<20), "at-most-MB": peakMB + float64(n)*peakBytes/(1<<20),
				} {
					if f[name] > most && !racing {
						t.Errorf("%s: %s is %.0f, and may be %.0f", phase, name, f[name], most)
					}
				}
				if os.Getenv("BEAM_MILLION") == "" {
					continue
				}
				if f["ready-ms"] > ready {
					t.Errorf("%s: it took %.0f ms until all were ready", phase, f["ready-ms"])
				}
				if f["answered-p99-ms"] > answered {
					t.Errorf("%s: an answer took %.0f ms at the 99th percentile", phase, f["answered-p99-ms"])
				}
			}
		})
	}
}

// TestRunsThatWaitHot: their generators wait in memory.
func TestRunsThatWaitHot(t *testing.T) {
	n := min(sizes(t)[len(sizes(t))-1], 100_000)
	f := child(t, "hot", t.TempDir(), n)
	report(t, "hot", f)
	if each := (f["resident-MB"] - f["empty-MB"]) * (1 << 20) / float64(n); n >= 10_000 && each > hotBytes {
		t.Errorf("a run that waits in memory takes %.0f bytes, and may take %d", each, hotBytes)
	}
}

// child performs a phase in a process of its own.
func child(t *testing.T, phase, dir string, n int) map[string]float64 {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), phaseVar+"="+phase, folderVar+"="+dir, fmt.Sprint(runsVar, "=", n), "GOMEMLIMIT=1280MiB") // as Beam has it
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	var figures map[string]float64
	if json.Unmarshal(out, &figures) != nil {
		t.Fatalf("%s: %v: %s", phase, err, out)
	}
	return figures
}

func report(t *testing.T, phase string, figures map[string]float64) {
	t.Helper()
	load, _ := os.ReadFile("/proc/loadavg")
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		fmt.Fprintf(&b, "\n%20s %12.1f", name, figures[name])
	}
	t.Logf("%s, with a load of %.4s:%s", phase, load, b.String())
}
