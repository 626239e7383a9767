package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
)

// A client that answers is not silent, however long all its answers take.
func TestAnAnswerBeginsTheWaitAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		effects := 0
		w := linked(t, inTurn(&effects)).stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"emergency"}}`)
		w.next()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inturn"}}`)
		for _, name := range []string{"first", "second"} {
			question := w.next()
			time.Sleep(40 * time.Second)
			w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{%q:"x"}}}`, member(t, question, "id"), name)
		}
		if got := w.next(); !strings.Contains(got, "x x") {
			t.Errorf("it ends with %s", got)
		}
		w.end()
	})
}

func TestWaitingCallsKeepTheirCallersAlive(t *testing.T) {
	for _, caps := range []string{`{}`, `{"elicitation":{}}`} {
		synctest.Test(t, func(t *testing.T) {
			asking := mcp.Asking{Link: true, KeepAlive: 15 * time.Second}
			w := rigged(t, asking, log.NewMemory(), word).stdio(t)
			w.hello("2025-11-25", caps)
			w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"emergency"}}`)
			w.next()
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","_meta":{"progressToken":"p"}}}`)
			w.next() // the link, or the question
			begun, last := time.Now(), -1.0
			for range 2400 { // ten hours
				told := w.next()
				var p struct {
					Params struct {
						Progress float64
						Message  string
					}
				}
				if err := json.Unmarshal([]byte(told), &p); err != nil || p.Params.Progress <= last {
					t.Fatalf("after %v it says %s", last, told)
				}
				last = p.Params.Progress
			}
			if took := time.Since(begun).Round(time.Minute); took != 10*time.Hour {
				t.Errorf("2400 tellings took %s, want one every 15 s", took)
			}
		})
	}
}

// Thousands that wait have one timer, and each its own time.
func TestManyWaitAtOnce(t *testing.T) {
	const n = 2000
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, word)
		w := r.stdio(t)
		w.hello("2025-11-25", `{}`)
		w.send(`{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":"emergency"}}`)
		w.next()
		begun := time.Now()
		for i := range n {
			time.Sleep(time.Millisecond)
			w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"word"}}`, i+1)
		}
		for i := range n {
			got := w.next()
			if late := time.Since(begun) - time.Duration(i+1)*time.Millisecond - 45*time.Second; member(t, got, "id") != fmt.Sprint(i+1) || late < 0 || late > 5*time.Millisecond {
				t.Fatalf("after %s too long comes %s, want the result of %d", late, got, i+1)
			}
		}
		if open := r.engine.OpenAsks(operator); open != n {
			t.Errorf("%d questions are open, want all %d", open, n)
		}
		w.end()
	})
}

// A modern client that wants neither progress nor log messages may be sent none.
// Without a handoff it hears of the question when somebody else has answered.
func TestAModernClientThatCanBeToldNothingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, mcp.Asking{Link: true, KeepAlive: 15 * time.Second}, log.NewMemory(), word)
		w := r.stdio(t)
		w.call(1, "word", `{}`)
		time.Sleep(10 * time.Hour)
		answered := time.Now()
		r.inBrowser(t, ask.Accept, `{"word":"fish"}`)
		if got := w.next(); member(t, got, "result", "structuredContent") != `"fish"` || time.Since(answered) > 0 {
			t.Errorf("the first that it says is %s", got)
		}
		w.end()
	})
}
