package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
)

// byLink is how `beam` is set up when nothing is said.
var byLink = mcp.Asking{Link: true, Handoff: 45 * time.Second, KeepAlive: 15 * time.Second}

var word = asker("word", ask.ForText("word", "Which word?"))

func linked(t testing.TB, photons ...*generators.Photon) *rig {
	return rigged(t, byLink, log.NewMemory(), photons...)
}

// inBrowser answers the operator's only open question.
func (r *rig) inBrowser(t testing.TB, action ask.Action, content string) {
	t.Helper()
	open := r.engine.Inbox(operator, 0)
	if len(open) != 1 {
		t.Fatalf("%d questions are open, want 1", len(open))
	}
	if err := r.engine.Answer(t.Context(), operator, open[0].ID, ask.Answer{Action: action, Content: json.RawMessage(content)}, "browser"); err != nil {
		t.Fatal(err)
	}
}

func TestWhoCanNotBeAskedIsGivenALink(t *testing.T) {
	for name, tt := range map[string]struct {
		prompt  *generators.Photon
		content string
	}{
		"form":   {word, `{"word":"fish"}`},
		"secret": {asker("secret", ask.ForSecret("key", "The key?")), `{"key":"fish"}`},
		"url":    {asker("url", ask.ForURL("url", "Sign in.", "https://example.com/")), ``},
		"sample": {asker("sample", ask.ForSample("sample", ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Hi"))}, MaxTokens: 5})),
			`{"role":"assistant","model":"me","content":{"type":"text","text":"fish"}}`},
		"roots": {asker("roots", ask.ForRoots("roots")), `{"roots":"/srv/fish"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := linked(t, tt.prompt)
				w := r.stdio(t)
				w.hello("2025-11-25", `{}`)
				w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"_meta":{"progressToken":7}}}`, tt.prompt.Name())
				told := w.next()
				if !strings.Contains(anonymous(told), `"method":"notifications/progress","params":{"progressToken":7,"progress":0,"message":"Answer at http://127.0.0.1:3008/asks/RUN.3: `) {
					t.Errorf("first it says %s, want progress with the address", told)
				}
				if logged := w.next(); !strings.Contains(anonymous(logged), `"method":"notifications/message","params":{"level":"notice"`) || !strings.Contains(anonymous(logged), "/asks/RUN.3: ") {
					t.Errorf("then it says %s, want a log message with the address", logged)
				}
				r.inBrowser(t, ask.Accept, tt.content)
				if got := w.next(); member(t, got, "id") != "1" || strings.Contains(got, `"isError"`) {
					t.Errorf("once it is answered it says %s, want the result", got)
				}
			})
		})
	}
}

func TestModernClientsThatCanNotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, word)
		w := r.stdio(t)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word",%s}}`, modern(`{}`, `,"progressToken":1,"io.modelcontextprotocol/logLevel":"notice"`))
		if told := w.next(); !strings.Contains(told, "notifications/progress") || !strings.Contains(anonymous(told), "/asks/RUN.3: Which word?") {
			t.Errorf("first it says %s", told)
		}
		w.next() // the log message
		for range 2 {
			if told := w.next(); !strings.Contains(told, "Waiting for an answer") {
				t.Errorf("then it says %s", told)
			}
		}
		result := w.next()
		if !strings.Contains(result, `"resultType":"complete"`) || !strings.Contains(result, "beam_resume") || strings.Contains(result, `"isError"`) {
			t.Errorf("after 45 s it says %s", result)
		}
		run := handle(t, result)

		// With the capability, it is asked in a round of its own.
		caps := `,` + modern(`{"elicitation":{}}`, "")
		w.resume(2, run, caps)
		round := w.next()
		if !strings.Contains(round, `"resultType":"input_required"`) || !strings.Contains(round, "Which word?") {
			t.Errorf("resuming says %s", round)
		}
		w.resume(3, run, fmt.Sprintf(`,"requestState":%s,"inputResponses":{"word":{"action":"accept","content":{"word":"fish"}}}`, member(t, round, "result", "requestState"))+caps)
		if got := w.next(); member(t, got, "result", "structuredContent") != `"fish"` {
			t.Errorf("the answer gives %s", got)
		}
		w.end()
	})
}

// Of several questions at once, those that the client can be asked travel, and
// the others have their link.
func TestARoundWithALinkBesideIt(t *testing.T) {
	both := generators.New("both", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		var name, key string
		err := ask.All(yield, ask.ForSecret("key", "The key?").Into(&key), ask.ForText("name", "Who?").Into(&name))
		return name + " " + key, err
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, both)
		w := r.stdio(t)
		w.call(1, "both", `{"elicitation":{}}`)
		round := w.next()
		if asks := member(t, round, "result", "inputRequests"); !strings.HasPrefix(asks, `{"name":`) || strings.Contains(asks, "key") {
			t.Errorf("the round asks %s, want the name alone", asks)
		}
		w.again(2, "both", round, `{"name":{"action":"accept","content":{"name":"Ada"}}}`)
		synctest.Wait()
		r.inBrowser(t, ask.Accept, `{"key":"fish"}`)
		if got := w.next(); member(t, got, "result", "structuredContent") != `"Ada fish"` {
			t.Errorf("it ends with %s", got)
		}
		w.end()
	})
}

// A client that declared that it can ask, and fails to, is as silent.
func TestAClientThatFailsToAskIsGivenTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, word)
		w := r.stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
		w.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, member(t, w.next(), "id"))
		if link := w.next(); !strings.Contains(anonymous(link), "/asks/RUN.3: Which word?") {
			t.Errorf("then it says %s, want the link", link)
		}
		r.inBrowser(t, ask.Accept, `{"word":"fish"}`)
		w.expect(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
		w.end()
	})
}
