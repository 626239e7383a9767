package peers

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// alternations is how often each server is measured, in turns. The reported figures are
// medians.
const alternations = 5

// BenchmarkWaiting makes 10,000 calls wait for an answer on one session, makes a quick
// call meanwhile, and answers all. It leaves out mcp-go, which stops at a hundred. The
// goals are that Beam, with everything in memory, has a lower peak of memory than
// go-sdk, and takes less time until all calls have asked and all are answered: both
// ratios below 1.
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

// medianCallTime returns the median time of a call that asks nothing.
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

// measureWaitingCalls returns the figures of a server with n waiting calls.
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
		if questions[i] = p.readMessage(); !strings.Contains(questions[i], `"elicitation/create"`) {
			b.Fatal(questions[i])
		}
	}
	asked := time.Since(begun)
	sent.Wait()
	settled := p.memory("VmRSS:")
	for range 20 { // an idle server returns memory to the system
		time.Sleep(250 * time.Millisecond) // there is no event for that
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
