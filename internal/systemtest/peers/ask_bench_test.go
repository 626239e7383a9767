package peers

import (
	"slices"
	"testing"
	"time"
)

var serverNames = []string{"pipe", "beam", "mcp-go", "go-sdk"}

// callsPerProcess is how many calls each process of a server makes. Where the system
// happens to place a process in memory makes it some percent faster or slower as long as
// it lives, so each alternation has new ones.
const callsPerProcess = 400

// BenchmarkAsk measures a tools/call with an elicitation over stdio. The servers take
// turns of many calls, or of a single one. In the latter, the processor's caches are full
// of the others' code and data at each call.
func BenchmarkAsk(b *testing.B) {
	b.Run("many", func(b *testing.B) { benchmarkAsk(b, callsPerProcess) })
	b.Run("single", func(b *testing.B) { benchmarkAsk(b, 1) })
}

func benchmarkAsk(b *testing.B, callsInTurn int) {
	all := map[string][]time.Duration{}
	uses := map[string]*cpuUsage{}
	for _, name := range serverNames {
		uses[name] = &cpuUsage{}
	}
	for range max(b.N, alternations) {
		times := alternate(b, callsInTurn, uses)
		for _, name := range serverNames {
			all[name] = append(all[name], times[name]...)
		}
	}
	b.ReportMetric(0, "ns/op") // the time of all four together means nothing
	for _, name := range serverNames {
		calls := float64(len(all[name]))
		b.ReportMetric(quantile(all[name], .5), name+"-p50-µs")
		b.ReportMetric(quantile(all[name], .99), name+"-p99-µs")
		b.ReportMetric(float64(uses[name].cpu.Microseconds())/calls, name+"-cpu-µs")
		b.ReportMetric(uses[name].sleeps/calls, name+"-sleeps")
		if name != "beam" {
			b.ReportMetric(quantile(all["beam"], .5)/quantile(all[name], .5), "beam/"+name)
		}
	}
}

// quantile returns a quantile of times in microseconds. It sorts them.
func quantile(times []time.Duration, q float64) float64 {
	slices.Sort(times)
	return float64(times[int(q*float64(len(times)-1))].Nanoseconds()) / 1e3
}

// alternate measures new processes of all servers, which make callsInTurn calls at a time,
// and adds to uses.
func alternate(tb testing.TB, callsInTurn int, uses map[string]*cpuUsage) (times map[string][]time.Duration) {
	peers := map[string]*peer{}
	for _, name := range serverNames {
		peers[name] = startPeer(tb, name)
		for i := range 200 { // warms up
			peers[name].completeCall(1_000_000 + i)
		}
		uses[name].add(peers[name], -1)
	}
	times = map[string][]time.Duration{}
	for first := 0; first < callsPerProcess; first += callsInTurn {
		for _, name := range serverNames {
			for id := range callsInTurn {
				begun := time.Now()
				peers[name].completeCall(first + id)
				times[name] = append(times[name], time.Since(begun))
			}
		}
	}
	for _, name := range serverNames {
		uses[name].add(peers[name], 1)
		peers[name].stop()
	}
	return times
}
