package peers

import (
	"slices"
	"testing"
	"time"
)

var serverNames = []string{"pipe", "beam", "mcp-go", "go-sdk"}

// callsPerProcess is how many calls a process makes before another replaces it. Where
// the system happens to place a process in memory makes it some percent faster or
// slower as long as it lives.
const callsPerProcess = 500

// BenchmarkAsk measures a tools/call with an elicitation over stdio. The servers take
// turns, so that a machine that slows down slows all of them.
func BenchmarkAsk(b *testing.B) {
	peers := map[string]*peer{}
	times, uses := map[string][]time.Duration{}, map[string]*cpuUsage{}
	for _, name := range serverNames {
		uses[name] = &cpuUsage{}
	}
	id := 0
	for b.Loop() {
		for _, name := range serverNames {
			if id%callsPerProcess == 0 {
				peers[name] = replacePeer(b, peers[name], name, uses[name])
			}
			begun := time.Now()
			peers[name].completeCall(id)
			times[name] = append(times[name], time.Since(begun))
		}
		id++
	}
	at := func(name string, q float64) float64 {
		t := times[name]
		slices.Sort(t)
		return float64(t[int(q*float64(len(t)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(0, "ns/op") // the time of all four together means nothing
	for _, name := range serverNames {
		b.ReportMetric(at(name, .5), name+"-p50-µs")
		b.ReportMetric(at(name, .99), name+"-p99-µs")
		uses[name].add(peers[name], 1)
		b.ReportMetric(float64(uses[name].cpu.Microseconds())/float64(id), name+"-cpu-µs")
		b.ReportMetric(uses[name].sleeps/float64(id), name+"-sleeps")
	}
	b.ReportMetric(at("beam", .5)/at("mcp-go", .5), "beam/mcp-go")
	b.ReportMetric(at("beam", .5)/at("go-sdk", .5), "beam/go-sdk")
	b.ReportMetric(at("beam", .5)/at("pipe", .5), "beam/pipe")
}

// replacePeer ends a process, if there is one, and starts another, which makes some
// calls to warm up. It subtracts their CPU usage from use, and adds what the old
// process used in total.
func replacePeer(tb testing.TB, old *peer, name string, use *cpuUsage) *peer {
	tb.Helper()
	if old != nil {
		use.add(old, 1)
		old.stop()
	}
	p := startPeer(tb, name)
	for i := range 200 {
		p.completeCall(1_000_000 + i)
	}
	use.add(p, -1)
	return p
}
