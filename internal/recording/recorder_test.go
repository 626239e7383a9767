package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A memoryStore is a store whose files are in memory.
type memoryStore struct {
	mu    sync.Mutex
	files map[string][]byte
	disk  func() // called during a write; may be nil
	err   error

	written int // bytes
}

func (s *memoryStore) WriteMessages(run string, lines []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disk != nil {
		s.disk()
	}
	if s.err != nil {
		return s.err
	}
	s.files[run] = lines
	s.written += len(lines)
	return nil
}

func (s *memoryStore) AppendMessages(run string, lines []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.files[run] == nil:
		return fs.ErrNotExist
	case s.err != nil: // the disk is full, but for a few bytes
		s.files[run] = append(s.files[run], lines[:min(len(lines), 5)]...)
		return s.err
	}
	s.files[run] = append(s.files[run], lines...)
	s.written += len(lines)
	return nil
}

func (s *memoryStore) ReadMessages(run string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[run], nil
}

func (s *memoryStore) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files)
}

func newStore() *memoryStore { return &memoryStore{files: make(map[string][]byte)} }

func newRecorder(s Store, gone ...string) *Recorder {
	return NewRecorder(s, func(run string) bool { return !strings.Contains(strings.Join(gone, " "), run) }, slog.New(slog.DiscardHandler))
}

func whole(m json.RawMessage) json.RawMessage { return m }

func add(r *Recorder, run string, way Direction, data string) {
	r.Add(run, Observed{Side: Client, Peer: "test", Direction: way, Data: []byte(data)}, whole)
}

// storeAll stores what a recorder has, whatever its pace.
func storeAll(r *Recorder) { _ = r.save(math.MaxInt, math.MaxInt, time.Now()) }

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
		storeAll(r)
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
	storeAll(r)
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

// Everything is stored soon, but no faster than the pace. Of runs that are gone, nothing is.
func TestMessagesAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		r := newRecorder(store, "gone")
		add(r, "gone", Out, `{}`)
		const rounds = 3
		for i := range rounds * saveRuns {
			add(r, fmt.Sprint("run ", i), Out, `{"jsonrpc":"2.0","method":"m"}`)
		}
		time.Sleep(saveDelay - 1)
		for round := range rounds {
			if n := store.count(); n != round*saveRuns {
				t.Errorf("after %d rounds, %d runs are stored", round, n)
			}
			time.Sleep(saveEvery)
			synctest.Wait()
		}
		if store.files["gone"] != nil || r.timer != nil || len(store.files) != rounds*saveRuns {
			t.Errorf("at last, %d runs are stored", len(store.files))
		}
		r.Forget("run 0")
		delete(store.files, "run 0")
		if n := len(mustRead(t, r, "run 0")); n != 0 {
			t.Errorf("a deleted run has %d messages", n)
		}
	})
}

// A recording that grows for a long time isn't written again and again, is never large, and
// survives a disk that is full at times.
func TestLongRecordings(t *testing.T) {
	store := newStore()
	r := newRecorder(store)
	written, last := 0, 0
	for round := range 1000 {
		for range 5 {
			add(r, "a", Out, `{"jsonrpc":"2.0","method":"m","params":{"x":"`+strings.Repeat("x", round)+`"}}`)
			written += round + 180
		}
		store.err = nil
		if round%100 == 99 {
			store.err = errors.New("disk full")
		}
		storeAll(r)
		last = max(last, len(store.files["a"]))
		if round%50 != 0 {
			continue
		}
		here, there := mustRead(t, r, "a"), mustRead(t, newRecorder(store), "a")
		inMemory, _ := encode(here)
		if stored, _ := encode(there); here[len(here)-1].Seq != uint64(5*round+5) || !bytes.Equal(inMemory, stored) {
			t.Fatalf("after %d messages, %d are in memory and %d stored", 5*round+5, len(here), len(there))
		}
	}
	if store.written > 3*written || last > 3*maxBytes {
		t.Errorf("%d bytes were written for messages of about %d, and the longest recording had %d", store.written, written, last)
	}
}

// What memory has no room for is lost unless it is stored, and numbers tell how much.
func TestNumbersTellWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no time passes, so that nothing else is stored
		store := newStore()
		r := newRecorder(store)
		text := `{"jsonrpc":"2.0","method":"m","params":{"x":"` + strings.Repeat("x", 60_000) + `"}}`
		fill := func() {
			for i := range maxMemory/len(text) + 1 {
				add(r, fmt.Sprint("run ", i), Out, text)
			}
			if r.bytes > maxMemory || r.runs["stored"] != nil || r.runs["lost"] != nil {
				t.Errorf("%d bytes of %d runs are in memory", r.bytes, len(r.runs))
			}
		}
		expect := func(r *Recorder, run string, seqs ...uint64) {
			t.Helper()
			var got []uint64
			for _, m := range mustRead(t, r, run) {
				got = append(got, m.Seq)
			}
			if !slices.Equal(got, seqs) {
				t.Errorf("of %s, there are the messages %v, want %v", run, got, seqs)
			}
		}
		add(r, "stored", In, text)
		add(r, "lost", In, text)
		storeAll(r)
		add(r, "lost", Out, text)
		add(r, "lost", Out, text)
		fill()
		expect(r, "stored", 1)
		expect(r, "lost")
		storeAll(r)
		for run, want := range map[string][]uint64{"stored": {1, 2}, "lost": {4}} {
			add(r, run, Out, text)
			expect(r, run, want...)
			store.disk = func() { r.mu.Lock(); defer r.mu.Unlock(); r.evictAll() } // while it is written
			storeAll(r)
			store.disk = nil
			add(r, run, In, text)
			storeAll(r)
		}
		for _, r := range []*Recorder{r, newRecorder(store)} {
			expect(r, "stored", 1, 2, 3)
			expect(r, "lost", 4, 5)
		}
		if n := r.lost["stored"] + r.lost["lost"]; n != 0 {
			t.Errorf("%d messages are still counted as lost", n)
		}
	})
}

// evictAll removes everything from memory, as if it didn't fit. Callers hold mu.
func (r *Recorder) evictAll() {
	for _, rec := range r.runs {
		r.remove(rec)
		r.lose(rec.run, rec.unstored)
	}
}

// A run that is deleted while its messages are written has no file afterwards.
func TestDeletedWhileItIsStored(t *testing.T) {
	store := newStore()
	r := newRecorder(store)
	add(r, "a", In, `{"jsonrpc":"2.0","method":"m"}`)
	var deleting sync.WaitGroup
	store.disk = func() {
		deleting.Go(func() {
			r.Forget("a")
			store.mu.Lock()
			defer store.mu.Unlock()
			delete(store.files, "a") // as whoever deletes a run does then
		})
	}
	storeAll(r)
	deleting.Wait()
	r.Close()
	if len(store.files) != 0 {
		t.Error("the messages of a deleted run are stored")
	}
}

// A full disk is logged once a minute, and what didn't fit is stored with what comes later.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		store.err = errors.New("disk full")
		var log strings.Builder
		r := NewRecorder(store, func(string) bool { return true }, slog.New(slog.NewTextHandler(&log, nil)))
		for range 300 {
			for n := range 10 {
				add(r, fmt.Sprint("run ", n), In, `{"jsonrpc":"2.0","method":"m"}`)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n := strings.Count(log.String(), "\n"); n < 4 || n > 5 {
			t.Errorf("in 5 minutes, the log has %d lines: %s", n, log.String())
		}
		store.err = nil
		add(r, "run 0", In, `{"jsonrpc":"2.0","method":"m"}`)
		r.Close()
		if all := mustRead(t, newRecorder(store), "run 0"); len(all) != 301 {
			t.Errorf("%d messages are stored", len(all))
		}
	})
}

// Secrets that become known between a message and its reader are masked, and the way of the
// message isn't held up by that.
func TestContentIsDecidedWhenItIsRead(t *testing.T) {
	store := newStore()
	r := newRecorder(store)
	known := false
	r.Add("a", Observed{Side: Client, Direction: In, Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"hunter2"}`)}, func(m json.RawMessage) json.RawMessage {
		if !known {
			t.Error("the message is read at once")
		}
		return json.RawMessage(`"masked"`)
	})
	known = true
	storeAll(r)
	if all := mustRead(t, r, "a"); len(all) != 1 || string(all[0].Message) != `"masked"` || !strings.Contains(string(store.files["a"]), `"message":"masked"`) {
		t.Errorf("recorded is %s, stored %s", all[0].Message, store.files["a"])
	}
}

// However many messages follow a request, its response is told by it.
func TestResponseAfterManyMessages(t *testing.T) {
	r := newRecorder(nil)
	add(r, "a", In, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	for range maxMessages + 10 {
		add(r, "a", Out, `{"jsonrpc":"2.0","method":"m"}`)
	}
	add(r, "a", Out, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	all := mustRead(t, r, "a")
	if last := all[len(all)-1]; len(all) != maxMessages || last.Method != "tools/call" || last.Seq != maxMessages+12 {
		t.Errorf("the last of %d messages is %d, a response to %q", len(all), last.Seq, last.Method)
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
		go storeAll(r) // as it does by itself
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
