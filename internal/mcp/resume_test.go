package mcp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/run"
)

// handle is what a result gives to resume with.
func handle(t testing.TB, result string) string {
	t.Helper()
	return strings.Trim(member(t, result, "result", "_meta", "io.github.photon-beam/waiting", "run"), `"`)
}

func (w *wire) resume(id int, run, more string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"beam_resume","arguments":{"run":%q}%s}}`, id, run, more)
}

func TestWhatWasAnsweredBetweenIsThereAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, word)
		w := r.stdio(t)
		w.hello("2025-06-18", `{}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
		w.next()
		run := handle(t, w.next())
		r.inBrowser(t, ask.Decline, "")
		synctest.Wait()
		answered := time.Now()
		w.resume(2, run, "")
		if got := w.next(); !strings.Contains(got, ask.ErrDeclined.Error()) || time.Since(answered) > 0 {
			t.Errorf("resuming says %s after %s", got, time.Since(answered))
		}
		w.end()
	})
}

func TestAHandleOfAnotherIsAsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, word)
		theirs, err := r.engine.Start(t.Context(), run.Caller{"somebody else"}, run.Request{Photon: "word"})
		if err != nil {
			t.Fatal(err)
		}
		w := r.stdio(t)
		w.hello("2025-11-25", `{}`)
		var said []string
		for i, handle := range []string{theirs.ID, strings.Repeat("0", 32), "nonsense"} {
			w.resume(i, handle, "")
			got := w.next()
			if member(t, got, "result", "isError") != "true" {
				t.Errorf("the handle %s gives %s", handle, got)
			}
			said = append(said, member(t, got, "result", "content"))
		}
		if said[0] != said[1] || said[1] != said[2] {
			t.Errorf("the handles tell what they are: %q", said)
		}
		for _, args := range []string{`{}`, `{"run":7}`, `null`, `{"run":""}`} {
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"beam_resume","arguments":%s}}`, args)
			if got := w.next(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "are not valid") {
				t.Errorf("the arguments %s give %s", args, got)
			}
		}
		w.end()
	})
}

func TestAHandleOutlivesTheProcess(t *testing.T) {
	durable := generators.New("durable", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true})
	synctest.Test(t, func(t *testing.T) {
		runs := log.NewMemory()
		r := rigged(t, byLink, runs, durable, word)
		w := r.stdio(t)
		w.hello("2025-11-25", `{}`)
		handles := map[string]string{}
		for _, tool := range []string{"durable", "word"} {
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool)
			w.next()
			handles[tool] = handle(t, w.next())
		}
		w.end()
		r.close()

		r = rigged(t, byLink, runs, durable, word)
		w = r.stdio(t)
		w.hello("2025-11-25", `{}`)
		w.resume(1, handles["word"], "")
		if got := w.next(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "interrupted") || !strings.Contains(got, "shut down") {
			t.Errorf("the run that ended with the process gives %s", got)
		}
		w.resume(2, handles["durable"], "")
		w.next() // the link
		r.inBrowser(t, ask.Accept, `{"word":"fish"}`)
		w.expect(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
		w.end()
		r.close()
	})
}

// To give up waiting is not to give up the run: clients whose time runs out
// cancel.
func TestResumingCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := linked(t, word)
		w := r.stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
		w.next()
		w.next()
		w.next()
		run := handle(t, w.next())
		w.resume(2, run, "")
		w.next()
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if got := w.next(); !strings.Contains(got, "its call was cancelled") {
			t.Errorf("the question is taken back with %s", got)
		}
		synctest.Wait()
		r.inBrowser(t, ask.Accept, `{"word":"fish"}`)
		synctest.Wait()
		w.resume(3, run, "")
		w.expect(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
		w.end()
	})
}

func TestTheResumeToolIsListedWhereItIsNeeded(t *testing.T) {
	clash := asker("beam_resume", ask.ForText("word", "Which word?"))
	for name, tt := range map[string]struct {
		asking mcp.Asking
		caps   string
		want   []string
		not    []string
	}{
		"by default":          {byLink, `{}`, []string{`"Go on with a tool that waits"`}, []string{"outputSchema"}},
		"to who can be asked": {byLink, `{"elicitation":{}}`, []string{`"Go on with a tool that waits"`, "outputSchema"}, nil},
		"never handed off":    {mcp.Asking{Link: true}, `{}`, []string{"outputSchema", `"beam_resume"`}, []string{"Go on with"}},
		"refused":             {mcp.Asking{Handoff: time.Second}, `{}`, []string{"outputSchema", `"beam_resume"`}, []string{"Go on with"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := rigged(t, tt.asking, log.NewMemory(), word, clash).stdio(t)
			w.hello("2025-11-25", tt.caps)
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			list := w.next()
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

// The result of a run whose handle was given out is kept until its client can
// have come for it, however long the answer took.
func TestTheResultOfWhatWasHandedOffIsKept(t *testing.T) {
	durable := generators.New("durable", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true})
	for name, restart := range map[string]bool{"at once": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := log.NewMemory()
				r := rigged(t, byLink, runs, durable)
				w := r.stdio(t)
				w.hello("2025-11-25", `{}`)
				w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"durable"}}`)
				w.next() // the link
				handle := handle(t, w.next())
				if restart {
					w.end()
					r.close()
					r = rigged(t, byLink, runs, durable)
					w = r.stdio(t)
					w.hello("2025-11-25", `{}`)
					w.resume(2, handle, "")
					w.next() // the link
					w.next() // the result
				}
				time.Sleep(5 * time.Hour)
				r.inBrowser(t, ask.Accept, `{"word":"fish"}`)
				time.Sleep(55 * time.Minute)
				none := 0
				if gone, err := r.engine.Prune(run.Criteria{Keep: &none}, false); err != nil || len(gone) > 0 {
					t.Errorf("pruning deletes %v, %v", gone, err)
				}
				w.resume(3, handle, "")
				w.expect(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
				time.Sleep(10 * time.Minute)
				if gone, err := r.engine.Prune(run.Criteria{Keep: &none}, false); err != nil || len(gone) != 1 {
					t.Errorf("then pruning deletes %v, %v", gone, err)
				}
				w.end()
				r.close()
			})
		})
	}
}
