package crash

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// former is the last commit whose runs were in a log of NATS.
const former = "de837f37900f377502ed0412d69da325c35ad0a5"

// buildFormer builds the program of that commit. It skips the benchmark in a clone without it.
func buildFormer(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	archive := fmt.Sprintf("cd $(git rev-parse --show-toplevel) && git archive %s | tar -x -C %s", former, dir)
	if out, err := exec.Command("bash", "-o", "pipefail", "-c", archive).CombinedOutput(); err != nil {
		b.Skipf("the clone has no commit %s: %s", former, out)
	}
	build := exec.Command("go", "build", "-o", "former", "./cmd/beam")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "former")
}

// BenchmarkBesideFormer measures, in turns, how long this program and the former one take from
// an answer over HTTP to what comes next, the wizard's next question or its result. Both have a
// data folder; what is synced before it is acknowledged is all, by default what matters, or
// nothing.
func BenchmarkBesideFormer(b *testing.B) {
	ours, theirs := buildProgram(b), buildFormer(b)
	beams := []struct{ name, bin, sync string }{
		{"former-interval", theirs, "interval"}, {"interval", ours, "interval"},
		{"former-always", theirs, "always"}, {"always", ours, "always"}, {"default", ours, "default"},
	}
	clients := make([]*client, len(beams))
	for i, beam := range beams {
		p := &program{t: b, bin: beam.bin, data: filepath.Join(b.TempDir(), "data"), args: []string{"--sync", beam.sync}}
		p.start()
		b.Cleanup(p.kill)
		clients[i] = newClient(b, p)
	}
	turn := 0
	for b.Loop() {
		turn++
		for i, c := range clients {
			if _, _, err := c.completeRun(b.Context(), "wizard", "{}", fmt.Sprint(turn)); err != nil {
				b.Fatalf("%s: %v", beams[i].name, err)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of all together, which says nothing
	p50 := make(map[string]time.Duration)
	for i, c := range clients {
		slices.Sort(c.asked)
		p50[beams[i].name] = c.asked[len(c.asked)/2]
		b.ReportMetric(float64(p50[beams[i].name].Microseconds()), "µs/"+beams[i].name+"-p50")
	}
	b.ReportMetric(float64(p50["interval"])/float64(p50["former-interval"]), "interval/former")
	b.ReportMetric(float64(p50["always"])/float64(p50["former-always"]), "always/former")
	b.ReportMetric(float64(p50["default"])/float64(p50["former-always"]), "default/former-always")
}
