package peers

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkWaiting has 10,000 calls wait for an answer on one session, makes a
// quick call among them, and answers all. mcp-go stops at a hundred, so it is
// left out.
func BenchmarkWaiting(b *testing.B) {
	for _, name := range []string{"beam", "durable", "go-sdk"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				waiting(b, start(b, name), 10_000)
			}
		})
	}
}

// quick is how long a call takes that asks nothing, in the median.
func (p *peer) quick() time.Duration {
	var took []time.Duration
	for range 500 {
		begun := time.Now()
		p.send(call(1_000_000, "quick"))
		p.read()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

func waiting(b *testing.B, p *peer, n int) {
	idle := p.rss()
	alone := p.quick()
	var sent sync.WaitGroup
	sent.Go(func() {
		for i := range n {
			p.send(call(i+1, "ask"))
		}
	})
	questions := make([]string, n)
	begun := time.Now()
	for i := range n {
		questions[i] = p.read()
	}
	asked := time.Since(begun)
	sent.Wait()
	peak := p.rss()
	settled := peak
	for range 60 { // memory is given back when nothing goes on
		time.Sleep(250 * time.Millisecond) // the runtime tells nobody when it has
		settled = min(settled, p.rss())
	}
	among := p.quick()
	begun = time.Now()
	sent.Go(func() {
		for _, q := range questions {
			p.send(answer(q))
		}
	})
	for range n {
		if r := p.read(); !strings.Contains(r, "fish") {
			b.Fatal(r)
		}
	}
	answered := time.Since(begun)
	sent.Wait()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(idle/1e6, "idle-MB")
	b.ReportMetric(peak/1e6, "peak-MB")
	b.ReportMetric(settled/1e6, "waiting-MB")
	b.ReportMetric(asked.Seconds(), "asked-s")
	b.ReportMetric(answered.Seconds(), "answered-s")
	b.ReportMetric(float64(among.Nanoseconds())/1e3, "quick-p50-µs")
	b.ReportMetric(float64(among)/float64(alone), "quick/alone")
}
