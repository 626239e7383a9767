package mcp_test

import (
	"context"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A quickClient calls a tool that is known to be quick, so that it runs on the
// goroutine that reads the client's messages.
type quickClient struct{ *wire }

func steered(t *testing.T, r *rig, tool string) quickClient {
	t.Helper()
	w := quickClient{r.piped(t)}
	w.hello("2025-11-25", `{"elicitation":{}}`)
	for i := 0; i < 20 || !r.Quick(tool); i++ {
		if i == 1000 {
			t.Fatalf("%s does not count as quick after %d calls", tool, i)
		}
		w.call(100+i, tool)
		w.answer("fish")
		w.returns(100+i, "fish")
	}
	return w
}

// call calls a tool with a word for its argument, if there is one.
func (w quickClient) call(id int, tool string, word ...string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"word":%q}}}`, id, tool, strings.Join(word, ""))
}

// answer answers the question that comes next, and returns its id.
func (w quickClient) answer(word string) (id string) {
	w.t.Helper()
	id = w.question()
	w.reply(id, word)
	return id
}

func (w quickClient) reply(id, word string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":%q}}}`, id, word)
}

// question is the id of the question that comes next.
func (w quickClient) question() string {
	w.t.Helper()
	return member(w.t, w.wire.question(), "id")
}

// returns expects the result of a call next.
func (w quickClient) returns(id int, word string) {
	w.t.Helper()
	got := w.next()
	if member(w.t, got, "id") != strconv.Itoa(id) || !strings.Contains(got, `"text":"`+word+`"`) {
		w.t.Fatalf("there came %s, want the result %q of call %d", got, word, id)
	}
}

// pings makes sure that messages are taken in.
func (w quickClient) pings() {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	w.expect(`{"jsonrpc":"2.0","id":"ping","result":{}}`)
}

// said is what the tool under test is called with.
type said struct {
	Word string `json:"word,omitempty"`
}

// turning is a tool that asks for a word and returns it; with a word, it turns
// to does first.
func turning(does func(ctx context.Context, word string, yield generators.Yield)) *generators.Photon {
	return generators.New("turning", func(ctx context.Context, in said, yield generators.Yield) (string, error) {
		if in.Word != "" {
			does(ctx, in.Word, yield)
		}
		return ask.Text(yield, "word", "Which word?")
	}, nil)
}

func TestAToolThatBlocksForOnceKeepsNobodyWaiting(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, turning(func(context.Context, string, generators.Yield) { close(began); <-release }))
	w := steered(t, r, "turning")
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
	w.end()
}

func TestAToolThatEndsItsGoroutineKeepsNobodyWaiting(t *testing.T) {
	r := newRig(t, turning(func(context.Context, string, generators.Yield) { runtime.Goexit() }))
	w := steered(t, r, "turning")
	w.call(1, "turning", "leave")
	if got := w.next(); !strings.Contains(got, "its goroutine ended") {
		t.Errorf("the call ends with %s", got)
	}
	w.pings()
	w.call(2, "turning")
	w.answer("two")
	w.returns(2, "two")
	w.end()
}

func TestAToolThatPanicsKeepsNobodyWaiting(t *testing.T) {
	r := newRig(t, turning(func(context.Context, string, generators.Yield) { panic("no") }))
	w := steered(t, r, "turning")
	w.call(1, "turning", "panic")
	if got := w.next(); !strings.Contains(got, "it panicked") {
		t.Errorf("the call ends with %s", got)
	}
	w.pings()
	w.end()
}

// TestToolsThatShareALock: while a tool waits, its goroutine takes messages in,
// but it runs no other tool, which could need what it holds.
func TestToolsThatShareALock(t *testing.T) {
	var mu sync.Mutex
	photon := generators.New("locked", func(_ context.Context, _ said, yield generators.Yield) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	w := steered(t, newRig(t, photon), "locked")
	w.call(1, "locked")
	first := w.question()
	w.call(2, "locked")
	w.pings()
	w.reply(first, "one")
	got := w.next() + w.next() // the result of the one and the question of the other, in any order
	second := regexp.MustCompile(`"[0-9a-f]{32}\.3"`).FindString(got)
	if !strings.Contains(got, `"text":"one"`) || second == "" {
		t.Fatalf("there came %s, want the result of call 1 and the question of call 2", got)
	}
	w.reply(second, "two")
	w.returns(2, "two")
	w.end()
}

// TestAnAnswerFromElsewhereWakesWhoReads: the tool's own goroutine waits for the
// client, which says nothing.
func TestAnAnswerFromElsewhereWakesWhoReads(t *testing.T) {
	r := newRig(t, turning(nil))
	w := steered(t, r, "turning")
	w.call(1, "turning")
	w.question()
	r.inBrowser(t, ask.Accept, `{"word":"elsewhere"}`)
	for range 2 { // that the question is taken back, and the result
		w.next()
	}
	w.pings()
	w.call(2, "turning")
	w.answer("two")
	w.returns(2, "two")
	w.end()
}

// TestHalfAMessageIsKeptWhenWhoReadsIsWoken: the half that came before is not
// lost.
func TestHalfAMessageIsKeptWhenWhoReadsIsWoken(t *testing.T) {
	r := newRig(t, turning(nil))
	w := steered(t, r, "turning")
	w.call(1, "turning")
	w.question()
	write := func(s string) {
		if _, err := w.in.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"jsonrpc":"2.0","id":"ping",`)
	r.inBrowser(t, ask.Accept, `{"word":"elsewhere"}`)
	for range 2 {
		w.next()
	}
	write(`"method":"ping"}` + "\n")
	w.expect(`{"jsonrpc":"2.0","id":"ping","result":{}}`)
	w.end()
}

func TestACallCanBeCancelledByWhoReadsForIt(t *testing.T) {
	r := newRig(t, turning(nil))
	w := steered(t, r, "turning")
	w.call(1, "turning")
	w.question()
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := w.next(); !strings.Contains(got, "notifications/cancelled") {
		t.Errorf("there came %s, want that the question is taken back", got)
	}
	w.pings()
	w.call(2, "turning")
	w.answer("two")
	w.returns(2, "two")
	w.end()
}

func TestTheEndComesWhileAToolReads(t *testing.T) {
	r := newRig(t, turning(nil))
	w := steered(t, r, "turning")
	w.call(1, "turning")
	w.question()
	w.end()
}

// TestManyAtOnceAreEachAnsweredTheirOwn: whoever reads, answers find their
// calls.
func TestManyAtOnceAreEachAnsweredTheirOwn(t *testing.T) {
	r := newRig(t, turning(nil))
	w := steered(t, r, "turning")
	for round := range 20 {
		asked := map[string]bool{}
		for i := range 10 {
			w.call(10*round+i, "turning")
			asked[w.question()] = true
		}
		for q := range asked {
			w.reply(q, "word of "+strings.Trim(q, `"`))
		}
		results := map[string]bool{}
		for range 10 {
			got := w.next()
			results[strings.TrimPrefix(member(t, got, "result", "structuredContent", "result"), `"word of `)] = true
		}
		for q := range asked {
			if !results[strings.TrimPrefix(q, `"`)] {
				t.Fatalf("no call got the answer to %s", q)
			}
		}
	}
	w.end()
}
