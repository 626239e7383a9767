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
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

// linkPolicy is the default policy of the command.
var linkPolicy = mcp.AskPolicy{Link: true, Handoff: 45 * time.Second, KeepAlive: 15 * time.Second}

var wordPhoton = askingPhoton("word", ask.ForText("word", "Which word?"))

func newLinkingServer(t testing.TB, photons ...*generators.Photon) *testServer {
	return newTestServerOn(t, linkPolicy, runlog.NewMemory(), photons...)
}

// callLinkingServer calls wordPhoton, with the id 1, as a client with some capabilities.
func callLinkingServer(t testing.TB, version, capabilities string) (*testServer, *stdioClient) {
	t.Helper()
	r := newLinkingServer(t, wordPhoton)
	w := r.connectStdio(t)
	w.initialize(version, capabilities)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
	return r, w
}

// answerInBrowser answers the operator's only open question.
func (r *testServer) answerInBrowser(t testing.TB, action askdata.Action, content string) {
	t.Helper()
	open := must(r.engine.Inbox(operator, 0))
	if len(open) != 1 {
		t.Fatalf("%d questions are open, want 1", len(open))
	}
	if err := r.engine.Answer(t.Context(), operator, open[0].ID, askdata.Answer{Action: action, Content: json.RawMessage(content)}, "browser"); err != nil {
		t.Fatal(err)
	}
}

func TestClientThatCantBeAskedGetsLink(t *testing.T) {
	for name, tt := range map[string]struct {
		prompt  *generators.Photon
		content string
	}{
		"form":   {wordPhoton, `{"word":"fish"}`},
		"secret": {askingPhoton("secret", ask.ForSecret("key", "The key?")), `{"key":"fish"}`},
		"url":    {askingPhoton("url", ask.ForURL("url", "Sign in.", "https://example.com/")), ``},
		"sample": {askingPhoton("sample", ask.ForSample("sample", ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Hi"))}, MaxTokens: 5})),
			`{"role":"assistant","model":"me","content":{"type":"text","text":"fish"}}`},
		"roots": {askingPhoton("roots", ask.ForRoots("roots")), `{"roots":"/srv/fish"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newLinkingServer(t, tt.prompt)
				w := r.connectStdio(t)
				w.initialize("2025-11-25", `{}`)
				w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"_meta":{"progressToken":7}}}`, tt.prompt.Name())
				told := w.nextLine()
				if !strings.Contains(maskIDs(told), `"method":"notifications/progress","params":{"progressToken":7,"progress":0,"message":"Answer at http://127.0.0.1:3008/asks/RUN.3: `) {
					t.Errorf("first got %s, want progress with the address", told)
				}
				if logged := w.nextLine(); !strings.Contains(maskIDs(logged), `"method":"notifications/message","params":{"level":"notice"`) || !strings.Contains(maskIDs(logged), "/asks/RUN.3: ") {
					t.Errorf("then got %s, want a log message with the address", logged)
				}
				r.answerInBrowser(t, askdata.Accept, tt.content)
				if got := w.nextLine(); jsonMember(t, got, "id") != "1" || strings.Contains(got, `"isError"`) {
					t.Errorf("once it is answered got %s, want the result", got)
				}
			})
		})
	}
}

func TestModernClientThatCantBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLinkingServer(t, wordPhoton)
		w := r.connectStdio(t)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word",%s}}`, modernMeta(`{}`, `,"progressToken":1,"io.modelcontextprotocol/logLevel":"notice"`))
		if told := w.nextLine(); !strings.Contains(told, "notifications/progress") || !strings.Contains(maskIDs(told), "/asks/RUN.3: Which word?") {
			t.Errorf("first got %s", told)
		}
		w.nextLine() // the log message
		result := w.nextLine()
		if !strings.Contains(result, `"resultType":"complete"`) || !strings.Contains(result, "beam_resume") || strings.Contains(result, `"isError"`) {
			t.Errorf("then got %s", result)
		}
		run := resumeHandle(t, result)

		// With the capability, the client is asked in a round trip of its own.
		caps := `,` + modernMeta(`{"elicitation":{}}`, "")
		w.callResumeTool(2, run, caps)
		trip := w.nextLine()
		if !strings.Contains(trip, `"resultType":"input_required"`) || !strings.Contains(trip, "Which word?") {
			t.Errorf("resuming returns %s", trip)
		}
		w.callResumeTool(3, run, fmt.Sprintf(`,"requestState":%s,"inputResponses":{"word":{"action":"accept","content":{"word":"fish"}}}`, jsonMember(t, trip, "result", "requestState"))+caps)
		if got := w.nextLine(); jsonMember(t, got, "result", "structuredContent") != `"fish"` {
			t.Errorf("the answer returns %s", got)
		}
		w.closeAndWait()
	})
}

// Of several concurrent questions, the client is asked those that it can be asked, and
// gets links to the others.
func TestRoundTripWithLink(t *testing.T) {
	both := generators.New("both", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		var name, key string
		err := ask.All(yield, ask.ForSecret("key", "The key?").Into(&key), ask.ForText("name", "Who?").Into(&name))
		return name + " " + key, err
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		r := newLinkingServer(t, both)
		w := r.connectStdio(t)
		w.callModern(1, "both", `{"elicitation":{}}`)
		trip := w.nextLine()
		if asks := jsonMember(t, trip, "result", "inputRequests"); !strings.HasPrefix(asks, `{"name":`) || strings.Contains(asks, "key") {
			t.Errorf("the round asks %s, want the name alone", asks)
		}
		w.retryWithState(2, "both", trip, `{"name":{"action":"accept","content":{"name":"Ada"}}}`)
		synctest.Wait()
		r.answerInBrowser(t, askdata.Accept, `{"key":"fish"}`)
		if got := w.nextLine(); jsonMember(t, got, "result", "structuredContent") != `"Ada ••••"` {
			t.Errorf("it ends with %s", got)
		}
		w.closeAndWait()
	})
}

// A client that declared a capability and responds with an error counts as one that
// does not respond.
func TestClientThatFailsToAskGetsLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := callLinkingServer(t, "2025-11-25", `{"elicitation":{}}`)
		w.sendLine(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, jsonMember(t, w.nextLine(), "id"))
		if link := w.nextLine(); !strings.Contains(maskIDs(link), "/asks/RUN.3: Which word?") {
			t.Errorf("then got %s, want the link", link)
		}
		r.answerInBrowser(t, askdata.Accept, `{"word":"fish"}`)
		w.expectLine(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
		w.closeAndWait()
	})
}
