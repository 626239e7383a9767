package mcp_test

import (
	"context"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
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

// That people are slow makes no tool slow: neither while its run waits, nor
// when it was let go, nor when its call is handed off.
func TestAToolThatWaitsForLongIsNotSlow(t *testing.T) {
	for name, c := range map[string]struct {
		asking  mcp.Asking
		durable bool
	}{
		"in memory":  {mcp.Asking{}, false},
		"let go":     {mcp.Asking{}, true},
		"handed off": {mcp.Asking{Link: true, Handoff: 45 * time.Second}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool := generators.New("tool", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
					return ask.Text(yield, "word", "Which word?")
				}, &generators.Options{Durable: c.durable})
				r := rigged(t, c.asking, log.NewMemory(), tool)
				w := r.stdio(t)
				w.hello("2025-11-25", `{"elicitation":{}}`)
				for i := range 12 {
					w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool"}}`, i)
					id := member(t, w.question(), "id")
					if i >= 9 {
						time.Sleep(time.Hour)
						synctest.Wait()
					}
					w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, id)
					for strings.Contains(w.next(), `"method"`) {
					}
					if !r.Quick("tool") && i >= 8 {
						t.Fatalf("after call %d the tool counts as slow", i)
					}
				}
				w.end()
			})
		})
	}
}

// isSteered tells whether it is called by who had the helm.
func isSteered() bool { return strings.Contains(string(debug.Stack()), "steer") }
