package peers

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// alternations is how often each server is measured, in turns; the figures are the
// medians of that.
const alternations = 5

// BenchmarkWaiting has 10,000 calls wait for an answer on one session, makes a
// quick call among them, and answers all. mcp-go stops at a hundred, so it is
// left out. The aims are that Beam, with all in memory, takes less memory at most
// than go-sdk, and less time until all are asked and answered: both ratios below 1.
func BenchmarkWaiting(b *testing.B) {
	names := []string{"beam", "durable", "go-sdk"}
	all := map[string][]float64{}
	for range max(b.N, alternations) {
		for _, name := range names {
			p := startPeer(b, name)
			for figure, value := range measureWaitingCalls(b, p, 10_000) {
				all[name+"-"+figure] = append(all[name+"-"+figure], value)
			}
			p.stop()
		}
	}
	median := func(figure string) float64 {
		slices.Sort(all[figure])
		return all[figure][len(all[figure])/2]
	}
	b.ReportMetric(0, "ns/op")
	for figure := range all {
		b.ReportMetric(median(figure), figure)
	}
	b.ReportMetric(median("beam-most-MB")/median("go-sdk-most-MB"), "beam/go-sdk-memory")
	b.ReportMetric(median("beam-both-s")/median("go-sdk-both-s"), "beam/go-sdk-time")
}

// medianCallTime is how long a call takes that asks nothing, in the median.
func (p *peer) medianCallTime() time.Duration {
	var took []time.Duration
	for range 500 {
		begun := time.Now()
		p.writeLine(callLine(1_000_000, "quick"))
		p.readMessage()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// measureWaitingCalls are the figures of a server before which n calls wait.
func measureWaitingCalls(b *testing.B, p *peer, n int) map[string]float64 {
	idle := p.memory("VmRSS:")
	alone := p.medianCallTime()
	var sent sync.WaitGroup
	sent.Go(func() {
		for i := range n {
			p.writeLine(callLine(i+1, "ask"))
		}
	})
	questions := make([]string, n)
	begun := time.Now()
	for i := range n {
		questions[i] = p.readMessage()
	}
	asked := time.Since(begun)
	sent.Wait()
	settled := p.memory("VmRSS:")
	for range 20 { // memory is given back when nothing goes on
		time.Sleep(250 * time.Millisecond) // the runtime tells nobody when it has
		settled = min(settled, p.memory("VmRSS:"))
	}
	among := p.medianCallTime()
	begun = time.Now()
	sent.Go(func() {
		for _, q := range questions {
			p.writeLine(answerLine(q))
		}
	})
	for range n {
		if r := p.readMessage(); !strings.Contains(r, "fish") {
			b.Fatal(r)
		}
	}
	answered := time.Since(begun)
	sent.Wait()
	return map[string]float64{
		"idle-MB": idle / 1e6, "waiting-MB": settled / 1e6, "most-MB": p.memory("VmHWM:") / 1e6,
		"asked-s": asked.Seconds(), "answered-s": answered.Seconds(), "both-s": (asked + answered).Seconds(),
		"quick-p50-µs": float64(among.Nanoseconds()) / 1e3, "quick/alone": float64(among) / float64(alone),
	}
}
