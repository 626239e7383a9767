package gateway_test

import (
	"slices"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A comparison measures the same round trip with the test server directly and through
// a gateway, in turns, so that a busy machine slows both.
type comparison struct {
	direct, through           *lineClient
	directTimes, throughTimes []time.Duration
}

func newComparison(b *testing.B) *comparison {
	c := &comparison{direct: startLines(b, testServer(b)), through: startThroughGateway(b)}
	c.through.awaitTool("test__ask_text")
	return c
}

// awaitTool waits until a tool can be called.
func (l *lineClient) awaitTool(tool string) {
	l.tb.Helper()
	isListed := func() bool {
		l.lastID++
		l.write(`{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{}}`)
		return containsText(l.next(), `"`+tool+`"`)
	}
	if !programtest.Poll(isListed) {
		l.tb.Fatalf("%s is not listed", tool)
	}
}

// warmUp is the number of round trips before the first that counts.
const warmUp = 100

// run measures round trips until the benchmark is done, and reports p50 and p99 of
// both, what the gateway adds, and the processor time that it takes.
func (c *comparison) run(b *testing.B, roundTrip func(l *lineClient, prefix string) time.Duration) {
	for range warmUp {
		roundTrip(c.direct, "")
		roundTrip(c.through, "test__")
	}
	c.directTimes, c.throughTimes = nil, nil
	usedBefore, calls := c.through.processorTime(), 0
	for b.Loop() {
		c.directTimes = append(c.directTimes, roundTrip(c.direct, ""))
		c.throughTimes = append(c.throughTimes, roundTrip(c.through, "test__"))
		calls++
	}
	slices.Sort(c.directTimes)
	slices.Sort(c.throughTimes)
	at := func(times []time.Duration, q float64) float64 {
		return float64(times[int(q*float64(len(times)-1))].Microseconds())
	}
	b.ReportMetric(0, "ns/op") // the time of both together means nothing
	b.ReportMetric(at(c.directTimes, .5), "direct-p50-µs")
	b.ReportMetric(at(c.directTimes, .99), "direct-p99-µs")
	b.ReportMetric(at(c.throughTimes, .5)-at(c.directTimes, .5), "added-p50-µs")
	b.ReportMetric(at(c.throughTimes, .99)-at(c.directTimes, .99), "added-p99-µs")
	b.ReportMetric(at(c.throughTimes, .5)/at(c.directTimes, .5), "through/direct")
	b.ReportMetric(float64((c.through.processorTime()-usedBefore).Microseconds())/float64(calls), "cpu-µs")
}

// BenchmarkCall measures a call of a tool.
func BenchmarkCall(b *testing.B) {
	newComparison(b).run(b, func(l *lineClient, prefix string) time.Duration {
		begun := time.Now()
		l.begin(prefix + "content_text")
		l.expectResult(l.next(), "A text.")
		return time.Since(begun)
	})
}

// BenchmarkElicitation measures a call that asks a question, while no other waits.
func BenchmarkElicitation(b *testing.B) {
	newComparison(b).run(b, func(l *lineClient, prefix string) time.Duration {
		begun := time.Now()
		l.begin(prefix + "ask_text")
		l.answer(l.next())
		l.expectResult(l.next(), "Ada")
		return time.Since(begun)
	})
}

// BenchmarkElicitationAmong100 is BenchmarkElicitation while 99 other questions are
// open: the oldest is answered, and when its call has ended, another begins.
func BenchmarkElicitationAmong100(b *testing.B) {
	c := newComparison(b)
	open := map[*lineClient][][]byte{}
	for l, prefix := range map[*lineClient]string{c.direct: "", c.through: "test__"} {
		for range 100 {
			l.begin(prefix + "ask_text")
			open[l] = append(open[l], l.next())
		}
	}
	c.run(b, func(l *lineClient, prefix string) time.Duration {
		begun := time.Now()
		l.answer(open[l][0])
		l.expectResult(l.next(), "Ada")
		l.begin(prefix + "ask_text")
		open[l] = append(open[l][1:], l.next())
		return time.Since(begun)
	})
}

// BenchmarkBurst measures 100 calls whose questions are asked and answered as fast as
// possible: the time until the last has its result.
func BenchmarkBurst(b *testing.B) {
	newComparison(b).run(b, func(l *lineClient, prefix string) time.Duration {
		begun := time.Now()
		for range 100 {
			l.begin(prefix + "ask_text")
		}
		for results := 0; results < 100; {
			if m := l.next(); containsText(m, `"method":"elicitation/create"`) {
				l.answer(m)
			} else {
				l.expectResult(m, "Ada")
				results++
			}
		}
		return time.Since(begun)
	})
}
