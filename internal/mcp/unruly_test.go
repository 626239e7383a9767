package mcp_test

import (
	"context"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// said is the argument of the tool under test.
type said struct {
	Word string `json:"word,omitempty"`
}

// turning returns a tool that asks for a word and returns it. Called with a word, it
// calls does first.
func turning(does func(ctx context.Context, word string, yield generators.Yield)) *generators.Photon {
	return generators.New("turning", func(ctx context.Context, in said, yield generators.Yield) (string, error) {
		if in.Word != "" {
			does(ctx, in.Word, yield)
		}
		return ask.Text(yield, "word", "Which word?")
	}, nil)
}

func TestBlockingToolDelaysNoOtherCall(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	r := newTestServer(t, turning(func(context.Context, string, generators.Yield) { close(began); <-release }))
	w := wordClientOf(t, r)
	for i := range 20 {
		w.call(100+i, "turning")
		w.answer("fish")
		w.returns(100+i, "fish")
	}
	w.call(1, "turning", "block")
	<-began
	w.pings()
	w.call(2, "turning")
	w.answer("two")
	w.returns(2, "two")
	close(release)
	w.answer("one")
	w.returns(1, "one")
	w.pings()
	w.closeAndWait()
}

// As many tools as there are processors compute, without a system call or garbage.
func TestComputingToolsDelayNoOtherCall(t *testing.T) {
	photon := generators.New("compute", func(ctx context.Context, _ none, _ generators.Yield) (string, error) {
		var stopped atomic.Bool
		defer context.AfterFunc(ctx, func() { stopped.Store(true) })()
		for !stopped.Load() {
		}
		return "done", nil
	}, nil)
	w := wordClientOf(t, newTestServer(t, photon))
	n := runtime.GOMAXPROCS(0)
	for i := range n {
		w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"compute"}}`, i)
	}
	w.pings()
	for i := range n {
		w.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
	}
	w.pings()
	w.closeAndWait()
}

func TestExitingToolDelaysNoOtherCall(t *testing.T) {
	r := newTestServer(t, turning(func(context.Context, string, generators.Yield) { runtime.Goexit() }))
	w := wordClientOf(t, r)
	w.call(1, "turning", "leave")
	if got := w.nextLine(); !strings.Contains(got, "its goroutine ended") {
		t.Errorf("the call ends with %s", got)
	}
	w.pings()
	w.call(2, "turning")
	w.answer("two")
	w.returns(2, "two")
	w.closeAndWait()
}

func TestPanickingToolDelaysNoOtherCall(t *testing.T) {
	r := newTestServer(t, turning(func(context.Context, string, generators.Yield) { panic("no") }))
	w := wordClientOf(t, r)
	w.call(1, "turning", "panic")
	if got := w.nextLine(); !strings.Contains(got, "it panicked") {
		t.Errorf("the call ends with %s", got)
	}
	w.pings()
	w.closeAndWait()
}

// A tool that holds a lock while it asks blocks others that need the lock, but not the
// client.
func TestToolsSharingLock(t *testing.T) {
	var mu sync.Mutex
	photon := generators.New("locked", func(_ context.Context, _ said, yield generators.Yield) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	w := wordClientOf(t, newTestServer(t, photon))
	w.call(1, "locked")
	first := w.question()
	w.call(2, "locked")
	w.pings()
	w.reply(first, "one")
	got := w.nextLine() + w.nextLine() // one tool's result and the other's question, in any order
	second := regexp.MustCompile(`"[0-9a-f]{32}\.3"`).FindString(got)
	if !strings.Contains(got, `"text":"one"`) || second == "" {
		t.Fatalf("got %s, want the result of call 1 and the question of call 2", got)
	}
	w.reply(second, "two")
	w.returns(2, "two")
	w.closeAndWait()
}

// askTurning returns a server and its client once call 1 has asked.
func askTurning(t *testing.T) (*testServer, wordClient) {
	t.Helper()
	r := newTestServer(t, turning(nil))
	w := wordClientOf(t, r)
	w.call(1, "turning")
	w.question()
	return r, w
}

// An answer from elsewhere ends the wait, although the client sends nothing.
func TestAnswerFromElsewhereEndsWait(t *testing.T) {
	r, w := askTurning(t)
	r.answerInBrowser(t, askdata.Accept, `{"word":"elsewhere"}`)
	for range 2 { // the withdrawal and the result
		w.nextLine()
	}
	w.pings()
	w.call(2, "turning")
	w.answer("two")
	w.returns(2, "two")
	w.closeAndWait()
}

// What happens between the halves of a message does not lose the first half.
func TestPartialMessageIsKept(t *testing.T) {
	r, w := askTurning(t)
	write := func(s string) {
		if _, err := w.in.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"jsonrpc":"2.0","id":"ping",`)
	r.answerInBrowser(t, askdata.Accept, `{"word":"elsewhere"}`)
	for range 2 {
		w.nextLine()
	}
	write(`"method":"ping"}` + "\n")
	w.expectLine(`{"jsonrpc":"2.0","id":"ping","result":{}}`)
	w.closeAndWait()
}

func TestAskingCallCanBeCancelled(t *testing.T) {
	_, w := askTurning(t)
	w.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := w.nextLine(); !strings.Contains(got, "notifications/cancelled") {
		t.Errorf("got %s, want that the question is withdrawn", got)
	}
	w.pings()
	w.call(2, "turning")
	w.answer("two")
	w.returns(2, "two")
	w.closeAndWait()
}

func TestInputEndsWhileToolAsks(t *testing.T) {
	_, w := askTurning(t)
	w.closeAndWait()
}

func TestConcurrentCallsGetOwnAnswers(t *testing.T) {
	r := newTestServer(t, turning(nil))
	w := wordClientOf(t, r)
	for trip := range 20 {
		asked := map[string]bool{}
		for i := range 10 {
			w.call(10*trip+i, "turning")
			asked[w.question()] = true
		}
		for q := range asked {
			w.reply(q, "word of "+strings.Trim(q, `"`))
		}
		results := map[string]bool{}
		for range 10 {
			got := w.nextLine()
			results[strings.TrimPrefix(jsonMember(t, got, "result", "structuredContent", "result"), `"word of `)] = true
		}
		for q := range asked {
			if !results[strings.TrimPrefix(q, `"`)] {
				t.Fatalf("no call got the answer to %s", q)
			}
		}
	}
	w.closeAndWait()
}
