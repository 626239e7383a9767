package mcp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

// resumeHandle returns the handle in a result.
func resumeHandle(t testing.TB, result string) string {
	t.Helper()
	return strings.Trim(jsonMember(t, result, "result", "_meta", "io.github.photon-beam/waiting", "run"), `"`)
}

func (w *stdioClient) callResumeTool(id int, run, more string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"beam_resume","arguments":{"run":%q}%s}}`, id, run, more)
}

func TestResumeReturnsEarlierAnswerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := callLinkingServer(t, "2025-06-18", `{}`)
		w.nextLine()
		run := resumeHandle(t, w.nextLine())
		r.answerInBrowser(t, askdata.Decline, "")
		synctest.Wait()
		answered := time.Now()
		w.callResumeTool(2, run, "")
		if got := w.nextLine(); !strings.Contains(got, `The user declined \"Which word?\".`) || time.Since(answered) > 0 {
			t.Errorf("resuming returns %s after %s", got, time.Since(answered))
		}
		w.closeAndWait()
	})
}

func TestRunHandleOfAnotherCallerIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLinkingServer(t, wordPhoton)
		theirs, err := r.engine.Start(t.Context(), generators.Caller{ID: "somebody else"}, engine.StartRequest{Photon: "word"})
		if err != nil {
			t.Fatal(err)
		}
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		var said []string
		for i, handle := range []string{theirs.ID, strings.Repeat("0", 32), "nonsense"} {
			w.callResumeTool(i, handle, "")
			got := w.nextLine()
			if jsonMember(t, got, "result", "isError") != "true" {
				t.Errorf("the handle %s returns %s", handle, got)
			}
			said = append(said, jsonMember(t, got, "result", "content"))
		}
		if said[0] != said[1] || said[1] != said[2] {
			t.Errorf("the responses disclose which runs exist: %q", said)
		}
		for _, args := range []string{`{"run":7}`, `{"runs":"x"}`, `[]`} {
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"beam_resume","arguments":%s}}`, args)
			if got := w.nextLine(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "are not valid") {
				t.Errorf("the arguments %s give %s", args, got)
			}
		}
		w.closeAndWait()
	})
}

func TestRunHandleOutlivesProcess(t *testing.T) {
	durable := generators.New("durable", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true})
	synctest.Test(t, func(t *testing.T) {
		runs := runlog.NewMemory()
		r := newTestServerOn(t, linkPolicy, runs, durable, wordPhoton)
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		handles := map[string]string{}
		for _, tool := range []string{"durable", "word"} {
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool)
			w.nextLine()
			handles[tool] = resumeHandle(t, w.nextLine())
		}
		w.closeAndWait()
		r.close()

		r = newTestServerOn(t, linkPolicy, runs, durable, wordPhoton)
		w = r.connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		w.callResumeTool(1, handles["word"], "")
		if got := w.nextLine(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "interrupted") || !strings.Contains(got, "shut down") {
			t.Errorf("the run that ended with the process returns %s", got)
		}
		w.callResumeTool(2, handles["durable"], "")
		w.nextLine() // the link
		r.answerInBrowser(t, askdata.Accept, `{"word":"fish"}`)
		w.expectLine(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
		w.closeAndWait()
		r.close()
	})
}

// Cancelling the wait does not cancel the run: clients cancel when their timeout
// expires.
func TestResumeCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := callLinkingServer(t, "2025-11-25", `{"elicitation":{}}`)
		w.nextLine()
		w.nextLine()
		w.nextLine()
		run := resumeHandle(t, w.nextLine())
		w.callResumeTool(2, run, "")
		w.nextLine()
		w.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if got := w.nextLine(); !strings.Contains(got, "its call was canceled") {
			t.Errorf("the question is withdrawn with %s", got)
		}
		synctest.Wait()
		r.answerInBrowser(t, askdata.Accept, `{"word":"fish"}`)
		synctest.Wait()
		w.callResumeTool(3, run, "")
		w.expectLine(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
		w.closeAndWait()
	})
}

func TestResumeToolIsListed(t *testing.T) {
	clash := askingPhoton("beam_resume", ask.ForText("word", "Which word?"))
	for name, tt := range map[string]struct {
		asking mcp.AskPolicy
		caps   string
		want   []string
		not    []string
	}{
		"by default":          {linkPolicy, `{}`, []string{`"Resume a waiting tool call"`}, []string{"outputSchema"}},
		"to who can be asked": {linkPolicy, `{"elicitation":{}}`, []string{`"Resume a waiting tool call"`, "outputSchema"}, nil},
		"never handed off":    {mcp.AskPolicy{Link: true}, `{}`, []string{"outputSchema", `"beam_resume"`}, []string{"Go on with"}},
		"refused":             {mcp.AskPolicy{Handoff: time.Second}, `{}`, []string{"outputSchema", `"beam_resume"`}, []string{"Go on with"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestServerOn(t, tt.asking, runlog.NewMemory(), wordPhoton, clash).connectStdio(t)
			w.initialize("2025-11-25", tt.caps)
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			list := w.nextLine()
			for _, want := range tt.want {
				if !strings.Contains(list, want) {
					t.Errorf("the list lacks %s: %s", want, list)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(list, not) {
					t.Errorf("the list has %s: %s", not, list)
				}
			}
			if n := strings.Count(list, `"name":"beam_resume"`); n != 1 {
				t.Errorf("the list has the name %d times", n)
			}
		})
	}
}

// The result of a run whose handle was given to a client is kept until the client can
// have fetched it, however long the answer took.
func TestResultOfHandedOffRunIsKept(t *testing.T) {
	durable := generators.New("durable", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true})
	for name, restart := range map[string]bool{"at once": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := runlog.NewMemory()
				r := newTestServerOn(t, linkPolicy, runs, durable)
				w := r.connectStdio(t)
				w.initialize("2025-11-25", `{}`)
				w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"durable"}}`)
				w.nextLine() // the link
				handle := resumeHandle(t, w.nextLine())
				if restart {
					w.closeAndWait()
					r.close()
					r = newTestServerOn(t, linkPolicy, runs, durable)
					w = r.connectStdio(t)
					w.initialize("2025-11-25", `{}`)
					w.callResumeTool(2, handle, "")
					w.nextLine() // the link
					w.nextLine() // the result
				}
				time.Sleep(5 * time.Hour)
				r.answerInBrowser(t, askdata.Accept, `{"word":"fish"}`)
				time.Sleep(55 * time.Minute)
				none := 0
				if gone, err := r.engine.Prune(engine.PruneCriteria{Keep: &none}, false); err != nil || len(gone) > 0 {
					t.Errorf("pruning deletes %v, %v", gone, err)
				}
				w.callResumeTool(3, handle, "")
				w.expectLine(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
				time.Sleep(10 * time.Minute)
				if gone, err := r.engine.Prune(engine.PruneCriteria{Keep: &none}, false); err != nil || len(gone) != 1 {
					t.Errorf("then pruning deletes %v, %v", gone, err)
				}
				w.closeAndWait()
				r.close()
			})
		})
	}
}
