package peers

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkPing measures a ping that is sent a millisecond after a call of a tool that
// is slow for once: 20 quick calls, one of 300 ms, then the ping. The goal is less than
// 2 ms.
func BenchmarkPing(b *testing.B) {
	names := []string{"beam", "mcp-go", "go-sdk"}
	peers, took := map[string]*peer{}, map[string][]time.Duration{}
	for _, name := range names {
		peers[name] = startPeer(b, name)
	}
	for range pings(b) {
		for _, name := range names {
			took[name] = append(took[name], peers[name].ping(b))
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, name := range names {
		slices.Sort(took[name])
		b.ReportMetric(float64(took[name][len(took[name])/2].Nanoseconds())/1e6, name+"-p50-ms")
		b.ReportMetric(float64(took[name][len(took[name])-1].Nanoseconds())/1e6, name+"-most-ms")
	}
}

// pings returns how many pings to measure, at least five.
func pings(b *testing.B) int { return max(b.N, 5) }

// ping makes the calls, and returns how long the ping took.
func (p *peer) ping(tb testing.TB) time.Duration {
	for i := range 20 {
		p.writeLine(callLine(i, "quick"))
		p.readMessage()
	}
	p.writeLine(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"quick","arguments":{"ms":300}}}`)
	time.Sleep(time.Millisecond) // the ping comes this much later
	begun := time.Now()
	p.writeLine(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	first := p.readMessage()
	took := time.Since(begun)
	second := p.readMessage()
	for i, id := range []string{`"id":"ping"`, `"id":"slow"`} {
		if got := []string{first, second}[i]; !strings.Contains(got, id) {
			tb.Fatalf("%d. got %s, want %s", i+1, got, id)
		}
	}
	return took
}
