package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

// A client that answers is not silent, however long all its answers take together.
func TestAnswerRestartsWaitClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		effects := 0
		w := newLinkingServer(t, twoQuestionsInTurn(&effects)).connectStdio(t)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"emergency"}}`)
		w.nextLine()
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inturn"}}`)
		for _, name := range []string{"first", "second"} {
			question := w.nextLine()
			time.Sleep(40 * time.Second)
			w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{%q:"x"}}}`, jsonMember(t, question, "id"), name)
		}
		if got := w.nextLine(); !strings.Contains(got, "x x") {
			t.Errorf("it ends with %s", got)
		}
		w.closeAndWait()
	})
}

func TestWaitingCallsSendKeepAlives(t *testing.T) {
	for _, caps := range []string{`{}`, `{"elicitation":{}}`} {
		synctest.Test(t, func(t *testing.T) {
			asking := mcp.AskPolicy{Link: true, KeepAlive: 15 * time.Second}
			w := newTestServerOn(t, asking, runlog.NewMemory(), wordPhoton).connectStdio(t)
			w.initialize("2025-11-25", caps)
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"emergency"}}`)
			w.nextLine()
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","_meta":{"progressToken":"p"}}}`)
			w.nextLine() // the link, or the question
			begun, last := time.Now(), -1.0
			for range 2400 { // ten hours
				told := w.nextLine()
				var p struct {
					Params struct {
						Progress float64
						Message  string
					}
				}
				if err := json.Unmarshal([]byte(told), &p); err != nil || p.Params.Progress <= last {
					t.Fatalf("after %v got %s", last, told)
				}
				last = p.Params.Progress
			}
			if took := time.Since(begun).Round(time.Minute); took != 10*time.Hour {
				t.Errorf("2400 tellings took %s, want one every 15 s", took)
			}
		})
	}
}

// Thousands of waiting calls each have their own handoff time. Those whose client was
// asked first have one of 45 s, and those whose client can't be asked of 1 s.
func TestManyCallsWait(t *testing.T) {
	const gap = 100 * time.Microsecond
	n := 2000
	if testing.Short() {
		n = 300
	}
	for caps, handoff := range map[string]time.Duration{`{}`: time.Second, `{"elicitation":{}}`: 45 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			r := newLinkingServer(t, wordPhoton)
			w := r.connectStdio(t)
			w.initialize("2025-11-25", caps)
			w.sendLine(`{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":"emergency"}}`)
			w.nextLine()
			begun := time.Now()
			for i := range n {
				time.Sleep(gap)
				w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"word"}}`, i+1)
			}
			for i := range n {
				got := w.nextLine()
				for strings.Contains(got, `"method":`) { // a question, or its withdrawal
					got = w.nextLine()
				}
				if late := time.Since(begun) - time.Duration(i+1)*gap - handoff; jsonMember(t, got, "id") != fmt.Sprint(i+1) || late < 0 || late > 5*time.Millisecond {
					t.Fatalf("after %s too long got %s, want the result of %d", late, got, i+1)
				}
			}
			if open := must(r.engine.CountOpenAsks(operator)); open != n {
				t.Errorf("%d questions are open, want all %d", open, n)
			}
			w.closeAndWait()
		})
	}
}

// A modern client that wants neither progress nor log messages may be sent none.
// Without a handoff, it receives nothing until someone else has answered.
func TestModernClientWithoutLinksWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServerOn(t, mcp.AskPolicy{Link: true, KeepAlive: 15 * time.Second}, runlog.NewMemory(), wordPhoton)
		w := r.connectStdio(t)
		w.callModern(1, "word", `{}`)
		time.Sleep(10 * time.Hour)
		answered := time.Now()
		r.answerInBrowser(t, askdata.Accept, `{"word":"fish"}`)
		if got := w.nextLine(); jsonMember(t, got, "result", "structuredContent") != `"fish"` || time.Since(answered) > 0 {
			t.Errorf("the first message is %s", got)
		}
		w.closeAndWait()
	})
}
