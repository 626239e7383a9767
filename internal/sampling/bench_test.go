package sampling_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// A model that sends 1,000 tokens a second loses none, and each is in the log, where
// pages follow it, within some milliseconds.
func TestThousandTokensASecond(t *testing.T) {
	tokens := 2000
	if testing.Short() {
		tokens = 200
	}
	// The machine may stand still, or do something else, for a while. What takes long here
	// takes long each time.
	var p95 time.Duration
	for range 10 {
		delays := followTokens(t, tokens)
		if p95 = delays[len(delays)*95/100]; p95 <= 80*time.Millisecond || testing.Short() {
			return
		}
	}
	t.Errorf("95%% of the tokens are in the log within %v", p95)
}

func BenchmarkTokens(b *testing.B) {
	delays := followTokens(b, max(1000, b.N))
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(delays[len(delays)*95/100].Microseconds())/1000, "p95-ms")
}

// followTokens lets a model send tokens, a thousand a second, and returns how long each
// took to reach a follower of the log.
func followTokens(t testing.TB, tokens int) (delays []time.Duration) {
	sent := make([]time.Time, tokens)
	s := llmtest.New(t, func(x *llmtest.Call) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := range tokens {
			<-tick.C
			sent[i] = time.Now()
			x.Say(fmt.Sprintf("%d ", i))
		}
		x.Finish("stop")
	})
	b := open(t, nil, s.Models(`"name":"m"`))
	run, id := b.ask("x")
	b.approve(id, sampling.Decision{})
	var text strings.Builder
	b.waitFor(run, func(e runlog.Entry) bool {
		if e.Kind == runlog.KindSampling {
			d, _ := runlog.Decode[runlog.Sampling](e)
			for range strings.Count(d.Text, " ") {
				delays = append(delays, time.Since(sent[len(delays)]))
			}
			text.WriteString(d.Text)
		}
		return e.Kind == runlog.KindFinished
	})
	var want strings.Builder
	for i := range tokens {
		fmt.Fprintf(&want, "%d ", i)
	}
	if text.String() != want.String() {
		t.Fatalf("%d of %d tokens arrived", len(delays), tokens)
	}
	if got := b.result(run); got != "served: "+want.String()+" (endTurn)" {
		t.Error("the result lacks tokens")
	}
	slices.Sort(delays)
	return delays
}
