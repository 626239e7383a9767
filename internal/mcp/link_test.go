package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/run"
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

// handle is what a result gives to resume with.
func handle(t testing.TB, result string) string {
	t.Helper()
	return strings.Trim(member(t, result, "result", "_meta", "io.github.photon-beam/waiting", "run"), `"`)
}

func (w *wire) resume(id int, run, more string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"beam_resume","arguments":{"run":%q}%s}}`, id, run, more)
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

// stuck is a log of which one run's can't be read before it is freed.
type stuck struct {
	log.Log
	run   atomic.Pointer[string]
	freed chan nothing
}

func (l *stuck) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	if which := l.run.Load(); which != nil && *which == run {
		<-l.freed
	}
	return l.Log.Read(ctx, run, after)
}

// To read a long log takes a while. The other calls of the connection go on
// meanwhile.
func TestResumingALongRunHoldsUpNoOtherCall(t *testing.T) {
	long := generators.New("long", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		for range 2000 {
			yield(generators.Status("on"))
		}
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		l := &stuck{Log: log.NewMemory(), freed: make(chan nothing)}
		free := sync.OnceFunc(func() { close(l.freed) })
		defer free()
		r := rigged(t, byLink, l, long, hello)
		w := r.stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		started, err := r.engine.Start(t.Context(), operator, run.Request{Photon: "long"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l.run.Store(&started.ID)
		w.resume(1, started.ID, "")
		synctest.Wait()
		begun := time.Now()
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"},"_meta":{"progressToken":5}}}`)
		for told := ""; !strings.Contains(told, `"id":2`); {
			if told = w.next(); time.Since(begun) > time.Second {
				t.Fatalf("after %s it says %s", time.Since(begun), told)
			}
		}
		free()
		if question := w.next(); !strings.Contains(question, "elicitation/create") || !strings.Contains(question, started.ID) {
			t.Errorf("then it says %s, want the question of the run that is taken up", question)
		}
		w.end()
	})
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
