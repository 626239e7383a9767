package recording

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A memoryStore is a store that counts what it does.
type memoryStore struct {
	mu    sync.Mutex
	files map[string][]byte
}

func (s *memoryStore) WriteMessages(run string, lines []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[run] = lines
	return nil
}

func (s *memoryStore) ReadMessages(run string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[run], nil
}

func newStore() *memoryStore { return &memoryStore{files: make(map[string][]byte)} }

func newRecorder(s Store, gone ...string) *Recorder {
	return NewRecorder(s, func(run string) bool { return !strings.Contains(strings.Join(gone, " "), run) }, slog.New(slog.DiscardHandler))
}

func whole(m json.RawMessage) json.RawMessage { return m }

func add(r *Recorder, run string, way Direction, data string) {
	r.Add(run, Observed{Side: Client, Peer: "test", Direction: way, Data: []byte(data)}, whole)
}

func mustRead(t *testing.T, r *Recorder, run string) []Message {
	t.Helper()
	all, err := r.Messages(run)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A response has its request's method, how long it took, and how it ended.
func TestResponsesBelongToTheirRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(newStore())
		add(r, "a", In, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		time.Sleep(20 * time.Millisecond)
		add(r, "a", Out, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`)
		add(r, "a", In, `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
		add(r, "a", Out, `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		add(r, "a", Out, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`)
		var told []string
		for _, m := range mustRead(t, r, "a") {
			told = append(told, fmt.Sprint(m.Seq, " ", m.Kind, " ", m.Method, " ", m.Outcome, " ", m.Duration))
		}
		want := "1 request tools/call  0\n2 request elicitation/create  0\n3 response elicitation/create decline 0\n4 notification notifications/progress  0\n5 response tools/call error -32602 20"
		if got := strings.Join(told, "\n"); got != want {
			t.Errorf("the messages are\n%s", got)
		}
	})
}

// Hostile messages are bounded, and what is shown of them is JSON and UTF-8.
func TestHostileMessages(t *testing.T) {
	for name, data := range map[string]string{
		"huge":           `{"jsonrpc":"2.0","method":"m","params":{"x":"` + strings.Repeat("é", maxMessage) + `"}}`,
		"huge id":        `{"jsonrpc":"2.0","id":"` + strings.Repeat("é", maxName) + `","method":"m"}`,
		"no JSON":        "<script>alert(1)</script>\xff\x00",
		"huge no JSON":   strings.Repeat("\xff", 3*maxMessage),
		"invalid UTF-8":  "{\"jsonrpc\":\"2.0\",\"method\":\"m\xff\",\"params\":{\"\xc3\":\"\xff\"}}",
		"other types":    `{"jsonrpc":2,"id":{},"method":[],"result":7}`,
		"result no type": `{"jsonrpc":"2.0","id":3,"result":[{"action":1}]}`,
		"array":          `[[[]]]`,
		"nothing":        ``,
	} {
		store := newStore()
		r := newRecorder(store)
		add(r, "a", In, data)
		r.Save()
		for _, m := range append(mustRead(t, r, "a"), mustRead(t, newRecorder(store), "a")...) {
			raw, err := json.Marshal(m)
			if err != nil || !json.Valid(m.Message) || len(raw) > 2*maxMessage || m.Size != len(data) || m.Cut != (len(data) > maxMessage) {
				t.Errorf("%s: %d bytes (%v) are kept of %d: %.200s", name, len(raw), err, m.Size, raw)
			}
			if len(m.ID) > maxName || len(m.Method) > maxName {
				t.Errorf("%s: the id has %d bytes, the method %d", name, len(m.ID), len(m.Method))
			}
		}
		if len(store.files["a"]) == 0 || strings.Count(string(store.files["a"]), "\n") != 1 {
			t.Errorf("%s: stored is %.200q", name, store.files["a"])
		}
	}
}

// A recording keeps the newest messages, and numbers tell how many were dropped.
func TestOldMessagesAreDropped(t *testing.T) {
	store := newStore()
	r := newRecorder(store)
	for range maxMessages + 10 {
		add(r, "many", Out, `{"jsonrpc":"2.0","method":"m"}`)
	}
	for range 20 {
		add(r, "large", Out, `{"jsonrpc":"2.0","method":"m","params":{"x":"`+strings.Repeat("x", maxMessage-100)+`"}}`)
	}
	r.Save()
	for _, r := range []*Recorder{r, newRecorder(store)} {
		many, large := mustRead(t, r, "many"), mustRead(t, r, "large")
		if len(many) != maxMessages || many[0].Seq != 11 {
			t.Errorf("%d messages are kept, from %d on", len(many), many[0].Seq)
		}
		if n := len(large); n*maxMessage > maxBytes || large[n-1].Seq != 20 || large[0].Seq != uint64(21-n) {
			t.Errorf("%d large messages are kept, from %d to %d", n, large[0].Seq, large[n-1].Seq)
		}
	}
	again := newRecorder(store)
	add(again, "many", Out, `{"jsonrpc":"2.0","method":"m"}`)
	if all := mustRead(t, again, "many"); all[len(all)-1].Seq != maxMessages+11 {
		t.Errorf("after a restart, the next message is %d", all[len(all)-1].Seq)
	}
}

// What doesn't fit into memory is in the store, and all is there soon.
func TestMessagesAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		r := newRecorder(store, "gone")
		add(r, "gone", Out, `{}`)
		text := `{"jsonrpc":"2.0","method":"m","params":{"x":"` + strings.Repeat("x", 60_000) + `"}}`
		runs := 2 * maxMemory / len(text)
		for i := range runs {
			add(r, fmt.Sprint("run ", i), Out, text)
		}
		time.Sleep(2 * saveDelay)
		synctest.Wait()
		if len(store.files) != runs || store.files["gone"] != nil {
			t.Errorf("%d runs are stored, want %d", len(store.files), runs)
		}
		if r.bytes > maxMemory || len(r.runs) == 0 {
			t.Errorf("%d bytes of %d runs are in memory", r.bytes, len(r.runs))
		}
		add(r, "run 0", Out, text)
		if n := len(mustRead(t, r, "run 0")); n != 2 {
			t.Errorf("a run that was stored has %d messages", n)
		}
		r.Forget("run 0")
		delete(store.files, "run 0")
		if n := len(mustRead(t, r, "run 0")); n != 0 {
			t.Errorf("a deleted run has %d messages", n)
		}
	})
}

// What may not be kept isn't.
func TestContentDecides(t *testing.T) {
	r := newRecorder(newStore())
	o := Observed{Side: Upstream, Direction: Out, Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)}
	r.Add("a", o, func(json.RawMessage) json.RawMessage { return nil })
	r.Add("a", o, func(json.RawMessage) json.RawMessage { return json.RawMessage(`"Not recorded"`) })
	if all := mustRead(t, r, "a"); len(all) != 1 || string(all[0].Message) != `"Not recorded"` || all[0].Method != "tools/call" {
		t.Errorf("recorded is %v", all)
	}
}

// A recorder that is closed has stored everything, and leaves its store alone, whatever comes
// later.
func TestClosedRecorderLeavesItsStoreAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		r := newRecorder(store)
		for n := range 100 {
			add(r, fmt.Sprint("run ", n), In, `{"jsonrpc":"2.0","method":"m"}`)
		}
		go r.Save() // as it does by itself
		r.Close()
		store.mu.Lock()
		if len(store.files) != 100 {
			t.Errorf("%d of 100 recordings are stored", len(store.files))
		}
		store.files = nil // a write panics
		store.mu.Unlock()
		add(r, "late", In, `{"jsonrpc":"2.0","method":"m"}`)
		time.Sleep(time.Hour)
	})
}
