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
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

// An unreadableLog is a log that can't be read for a while.
type unreadableLog struct {
	runlog.Log
	isUnreadable atomic.Bool
}

func (l *unreadableLog) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	if !l.isUnreadable.Load() {
		return l.Log.Read(ctx, run, after)
	}
	return func(yield func([]runlog.Entry, error) bool) { yield(nil, runlog.ErrUnavailable) }
}

// A run that can't be read at the moment is not lost, and the client is told so.
func TestResumingUnreadableRun(t *testing.T) {
	durable := generators.New("durable", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true})
	l := &unreadableLog{Log: runlog.NewMemory()}
	asking := mcp.AskPolicy{Link: true, Handoff: 50 * time.Millisecond}
	r := newTestServerOn(t, asking, l, durable)
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"durable"}}`)
	w.nextLine()
	run := resumeHandle(t, w.nextLine())
	w.closeAndWait()
	r.close()
	w = newTestServerOn(t, asking, l, durable).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	l.isUnreadable.Store(true)
	w.callResumeTool(1, run, "")
	if got := w.nextLine(); !strings.Contains(got, "call beam_resume again") {
		t.Errorf("got %s", got)
	}
}

// A client that cancels tasks/result and at once requests it again gets a question with
// another id, and its answer counts.
func TestTaskResultRequestedAgain(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", ""))
	for range 20 {
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		task := w.createTask(1, "word")
		w.sendTaskRequest(2, "tasks/result", task)
		first := w.nextQuestion()
		w.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`+"\n"+
			`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":%q}}`, task)
		second := w.nextQuestion()
		if jsonMember(t, first, "id") == jsonMember(t, second, "id") {
			t.Fatalf("two requests have one id: %s", second)
		}
		w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, jsonMember(t, second, "id"))
		w.awaitResponse(3)
		w.closeAndWait()
	}
}

// A tool's own work between two questions does not count as waiting: the second
// question is open for the whole handoff time.
func TestWorkDoesNotCountAsWaiting(t *testing.T) {
	for _, work := range []time.Duration{10 * time.Second, 40 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			works := generators.New("works", func(ctx context.Context, _ none, yield generators.Yield) (string, error) {
				if _, err := ask.Text(yield, "first", "First?"); err != nil {
					return "", err
				}
				select {
				case <-ctx.Done():
				case <-time.After(work):
				}
				return ask.Text(yield, "second", "Second?")
			}, nil)
			w := newLinkingServer(t, works).connectStdio(t)
			w.initialize("2025-11-25", `{"elicitation":{}}`)
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"works"}}`)
			first := w.nextQuestion()
			time.Sleep(5 * time.Second)
			w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"first":"x"}}}`, jsonMember(t, first, "id"))
			w.nextQuestion()
			asked := time.Now()
			w.awaitResponse(1)
			if took := time.Since(asked); took < 45*time.Second {
				t.Errorf("after %s of work, the second question was before the client for %s, want 45 s", work, took)
			}
			w.closeAndWait()
		})
	}
}

// If an invalid answer arrives while the stream is broken, the question is asked again
// on the stream that resumes it.
func TestQuestionIsRepeatedOnResumedStream(t *testing.T) {
	r := newTestServer(t, askingPhoton("strict", ask.ForText("word", "Which word?", ask.Length(3, 50))))
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	ctx, cut := context.WithCancel(t.Context())
	gone := *v
	gone.ctx = ctx
	asked := gone.readEvents(gone.postMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"strict"}}`))()
	cut()
	v.postAnswer(asked.data, `{"word":"x"}`)
	again := v.readEvents(v.sendRequest("GET", "", "Last-Event-ID", asked.id))()
	if id := jsonMember(t, again.data, "id"); !strings.HasSuffix(id, `#2"`) {
		t.Errorf("the resumed stream begins with %s", again.data)
	}
	v.postAnswer(again.data, fmt.Sprintf(`{"word":%q}`, "fish"))
}

// nextQuestion returns the next request that asks something.
func (w *stdioClient) nextQuestion() string {
	w.t.Helper()
	for {
		if m := w.nextLine(); strings.Contains(m, `"elicitation/create"`) {
			return m
		}
	}
}
