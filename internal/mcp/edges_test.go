package mcp_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
)

// unreadable is a log that can't be read for a while.
type unreadable struct {
	log.Log
	now atomic.Bool
}

func (l *unreadable) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	if !l.now.Load() {
		return l.Log.Read(ctx, run, after)
	}
	return func(yield func([]log.Entry, error) bool) { yield(nil, log.ErrUnavailable) }
}

// A run that can't be read now is not lost, and its caller is told so.
func TestResumingWhatCantBeReadNow(t *testing.T) {
	durable := generators.New("durable", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true})
	l := &unreadable{Log: log.NewMemory()}
	asking := mcp.Asking{Link: true, Handoff: 50 * time.Millisecond}
	r := rigged(t, asking, l, durable)
	w := r.stdio(t)
	w.hello("2025-11-25", `{}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"durable"}}`)
	w.next()
	run := handle(t, w.next())
	w.end()
	r.close()
	w = rigged(t, asking, l, durable).stdio(t)
	w.hello("2025-11-25", `{}`)
	l.now.Store(true)
	w.resume(1, run, "")
	if got := w.next(); !strings.Contains(got, "call beam_resume again") {
		t.Errorf("it says %s", got)
	}
}

// Who asks for a task's result, thinks better of it, and asks again in the same
// breath is asked by a request of another id, and its answer counts.
func TestAResultThatIsAskedForAgain(t *testing.T) {
	r := newRig(t, asTask("word", ""))
	for range 20 {
		w := r.stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		task := w.create(1, "word")
		w.task(2, "tasks/result", task)
		first := w.question()
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`+"\n"+
			`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":%q}}`, task)
		second := w.question()
		if member(t, first, "id") == member(t, second, "id") {
			t.Fatalf("two requests have one id: %s", second)
		}
		w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, member(t, second, "id"))
		w.response(3)
		w.end()
	}
}

// A tool's own work between two questions is no waiting for a person: the second
// question is before the client for the whole time.
func TestWorkIsNoWaiting(t *testing.T) {
	for _, work := range []time.Duration{10 * time.Second, 40 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			works := generators.New("works", func(ctx context.Context, _ nothing, yield generators.Yield) (string, error) {
				if _, err := ask.Text(yield, "first", "First?"); err != nil {
					return "", err
				}
				select {
				case <-ctx.Done():
				case <-time.After(work):
				}
				return ask.Text(yield, "second", "Second?")
			}, nil)
			w := linked(t, works).stdio(t)
			w.hello("2025-11-25", `{"elicitation":{}}`)
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"works"}}`)
			first := w.question()
			time.Sleep(5 * time.Second)
			w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"first":"x"}}}`, member(t, first, "id"))
			w.question()
			asked := time.Now()
			w.response(1)
			if took := time.Since(asked); took < 45*time.Second {
				t.Errorf("after %s of work, the second question was before the client for %s, want 45 s", work, took)
			}
			w.end()
		})
	}
}

// An answer that does not fit comes when its stream is broken: the question is
// asked again on the stream that resumes it.
func TestAQuestionIsAskedAgainOnTheResumedStream(t *testing.T) {
	r := newRig(t, asker("strict", ask.ForText("word", "Which word?", ask.Length(3, 50))))
	v := visit(t, r.site(t).URL, "2025-11-25", `{"elicitation":{}}`)
	ctx, cut := context.WithCancel(t.Context())
	gone := *v
	gone.ctx = ctx
	asked := gone.stream(gone.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"strict"}}`))()
	cut()
	v.answer(asked.data, `{"word":"x"}`)
	again := v.stream(v.do("GET", "", "Last-Event-ID", asked.id))()
	if id := member(t, again.data, "id"); !strings.HasSuffix(id, `#2"`) {
		t.Errorf("the resumed stream begins with %s", again.data)
	}
	v.answer(again.data, fmt.Sprintf(`{"word":%q}`, "fish"))
}

// question is the next request that asks something.
func (w *wire) question() string {
	w.t.Helper()
	for {
		if m := w.next(); strings.Contains(m, `"elicitation/create"`) {
			return m
		}
	}
}
