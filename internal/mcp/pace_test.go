package mcp_test

import (
	"context"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
)

// TestASlowToolNeverRunsWhereItsCallWasRead: whatever it is that it does slowly.
func TestASlowToolNeverRunsWhereItsCallWasRead(t *testing.T) {
	const slow = 3 * time.Millisecond
	for name, does := range map[string]func(generators.Yield){
		"works":                func(generators.Yield) { time.Sleep(slow) },
		"works, and can't ask": func(yield generators.Yield) { time.Sleep(slow); _, _ = ask.Text(yield, "word", "Which word?") },
		"makes a step": func(yield generators.Yield) {
			_, _ = generators.Step(yield, "step", func(context.Context) (int, error) { time.Sleep(slow); return 1, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			photon := generators.New("slow", func(_ context.Context, _ said, yield generators.Yield) (bool, error) {
				here := isSteered()
				does(yield)
				return here, nil
			}, nil)
			w := quickClient{newRig(t, photon).piped(t)}
			w.hello("2025-11-25", `{}`)
			for i := range 20 {
				w.call(i, "slow")
				w.returns(i, "false")
			}
			w.end()
		})
	}
}

// TestWhatAToolWaitsIsNotItsTime: nobody answers, and its calls are handed off.
func TestWhatAToolWaitsIsNotItsTime(t *testing.T) {
	here := make(chan bool, 1)
	photon := generators.New("quick", func(_ context.Context, _ said, yield generators.Yield) (string, error) {
		here <- isSteered()
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	r := rigged(t, mcp.Asking{Link: true, Handoff: 20 * time.Millisecond}, log.NewMemory(), photon)
	w := quickClient{r.piped(t)}
	w.hello("2025-11-25", `{"elicitation":{}}`)
	steered := false
	for i := range 20 {
		w.call(i, "quick")
		w.question()
		for !strings.Contains(w.next(), "It asks: Which word?") {
		}
		r.inBrowser(t, ask.Accept, `{"word":"late"}`) // or it would go on to wait, and have the helm
		steered = <-here || steered
	}
	if !steered {
		t.Error("a quick tool whose calls were handed off counts as slow")
	}
	w.end()
}

// isSteered tells whether it is called by who had the helm.
func isSteered() bool { return strings.Contains(string(debug.Stack()), "steer") }
