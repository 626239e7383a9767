package mcp_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
)

func TestACallIsHandedOffAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		effects := 0
		r := linked(t, inTurn(&effects))
		w := r.stdio(t)
		w.hello("2025-11-25", `{}`)
		begun := time.Now()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inturn"}}`)
		w.next() // the link
		first := w.next()
		if took := time.Since(begun); took != 45*time.Second {
			t.Errorf("it was handed off after %s, want 45 s", took)
		}
		said := member(t, first, "result", "content")
		for _, want := range []string{"First?", "http://127.0.0.1:3008/asks/RUN.3", "beam_resume", `{\\\"run\\\": \\\"RUN\\\"}`} {
			if !strings.Contains(anonymous(said), strings.ReplaceAll(want, `\\\"`, `\"`)) {
				t.Errorf("the result says %s, want %s", said, want)
			}
		}
		if strings.Contains(first, `"isError"`) || strings.Contains(first, `"structuredContent"`) {
			t.Errorf("the result is %s, want neither an error nor structured content", first)
		}
		run := handle(t, first)

		w.resume(2, run, "")
		w.next() // the link
		second := w.next()
		if handle(t, second) != run || !strings.Contains(second, "First?") {
			t.Errorf("while nobody answers, resuming says %s", second)
		}
		time.Sleep(100 * time.Hour) // a person thinks

		w.resume(3, run, "")
		w.next() // the link
		r.inBrowser(t, ask.Accept, `{"first":"one"}`)
		w.next() // the status between
		if link := w.next(); !strings.Contains(link, "Second?") {
			t.Errorf("then it says %s, want the next question's link", link)
		}
		r.inBrowser(t, ask.Accept, `{"second":"two"}`)
		w.expect(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"one two"}],"structuredContent":{"result":"one two"}}}`)

		// What has ended is told as often as it is asked for.
		w.resume(4, run, "")
		w.expect(`{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"one two"}],"structuredContent":{"result":"one two"}}}`)
		if effects != 1 {
			t.Errorf("the effect happened %d times", effects)
		}
		w.end()
	})
}

func TestASilentClientIsHandedOffAndAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, word)
		w := r.stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
		question := w.next()
		asked := time.Now()
		if link := w.next(); !strings.Contains(anonymous(link), "/asks/RUN.3: Which word?") || time.Since(asked) != 20*time.Second {
			t.Errorf("after %s it says %s, want the link after 20 s", time.Since(asked), link)
		}
		w.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"nobody answered for long; it is open on Beam's page","requestId":"RUN.3"}}`)
		result := w.next()
		if time.Since(asked) != 45*time.Second || member(t, result, "result", "isError") != "true" {
			t.Errorf("after %s it says %s, want an error since structured content was promised", time.Since(asked), result)
		}
		// An answer that comes after all goes nowhere: it was taken back.
		w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"late"}}}`, member(t, question, "id"))
		w.resume(2, handle(t, result), "")
		again := w.next()
		if member(t, again, "method") != `"elicitation/create"` || member(t, again, "id") == member(t, question, "id") {
			t.Errorf("resuming says %s, want the question with an id of its own", again)
		}
		w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, member(t, again, "id"))
		w.expect(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
		w.end()
	})
}

// A client whose stream broke off comes back after the handoff, and gets its
// result at once.
func TestAHandoffIsResumedToo(t *testing.T) {
	asking := mcp.Asking{Link: true, Handoff: 50 * time.Millisecond}
	r := rigged(t, asking, log.NewMemory(), word)
	v := visit(t, r.site(t).URL, "2025-11-25", `{}`)
	ctx, cut := context.WithCancel(t.Context())
	gone := *v
	gone.ctx = ctx
	next := gone.stream(gone.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`))
	link := next()
	if !strings.Contains(link.data, "/asks/") {
		t.Fatalf("first it says %s, want the link", link.data)
	}
	run, _, _ := strings.Cut(r.engine.Inbox(operator, 0)[0].ID, ".")
	cut()
	next = v.stream(v.do("GET", "", "Last-Event-ID", run+".0"))
	for {
		if e := next(); member(t, e.data, "id") == "1" {
			if handle(t, e.data) != run {
				t.Errorf("the call ends with %s", e.data)
			}
			break
		}
	}
	// A call that was handed off can't be given up any more.
	v.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`).Body.Close()
	v.post(`{"jsonrpc":"2.0","id":3,"method":"ping"}`).Body.Close()
	r.inBrowser(t, ask.Accept, `{"word":"fish"}`)
	res := v.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"beam_resume","arguments":{"run":%q}}}`, run))
	defer res.Body.Close()
	if raw, _ := io.ReadAll(res.Body); !strings.Contains(string(raw), `"structuredContent":{"result":"fish"}`) {
		t.Errorf("resuming says %s", raw)
	}
}
