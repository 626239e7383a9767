package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/smallstate"
)

// A hook receives notices without a network. It fails for the questions in fails, and
// hangs for those in hangs.
type hook struct {
	mu           sync.Mutex
	fails, hangs map[string]bool
	received     map[string]int      // attempts, by question
	messages     map[string][]string // of them
}

func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	askID := strings.TrimPrefix(r.Header.Get("webhook-id"), "ask_")
	var told struct{ Data Notice }
	if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.received[askID]++
	h.messages[askID] = append(h.messages[askID], told.Data.Message)
	fails, hangs := h.fails[askID], h.hangs[askID]
	h.mu.Unlock()
	if hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	if fails {
		w.WriteHeader(http.StatusInternalServerError)
	}
	return w.Result(), nil
}

func (h *hook) attempts(askID string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.received[askID]
}

func newHook() *hook {
	return &hook{fails: make(map[string]bool), hangs: make(map[string]bool), received: make(map[string]int), messages: make(map[string][]string)}
}

// open is the set of open questions.
type open struct {
	mu   sync.Mutex
	asks map[string]bool
}

func (o *open) is(_ context.Context, askID string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asks[askID]
}

func (o *open) compose(ctx context.Context, askID string) (*Notice, error) {
	if !o.is(ctx, askID) {
		return nil, nil
	}
	return &Notice{Ask: askID}, nil
}

func (o *open) set(askID string, is bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asks[askID] = is
}

// TestFailingNoticesDelayNoOthers checks that notices that fail, or whose requests hang,
// don't hold up the rest, and that each is tried six times.
func TestFailingNoticesDelayNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHook()
		s := newSender(t, Config{URL: "https://hook.example/"})
		defer s.Close()
		s.client.Transport = h
		h.hangs["slow.1"] = true
		for i := range 50 {
			h.fails[fmt.Sprint("bad.", i)] = true
		}
		for i := range 50 {
			s.Tell(t.Context(), fmt.Sprint("bad.", i))
		}
		s.Tell(t.Context(), "slow.1")
		s.Tell(t.Context(), "good.1")
		synctest.Wait()
		if h.attempts("good.1") != 1 {
			t.Error("the notice of a question waits for those that fail")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, askID := range []string{"bad.1", "slow.1"} {
			if got := h.attempts(askID); got != 1+len(retryWaits) {
				t.Errorf("%s was tried %d times", askID, got)
			}
		}
		if s.Tell(t.Context(), "bad.1"); len(s.pending) != 0 {
			t.Error("a notice that failed is told again")
		}
	})
}

// TestSettledQuestionsAreNotTold checks that the notice of a question that is settled
// before it is received isn't sent again.
func TestSettledQuestionsAreNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, o := newHook(), &open{asks: map[string]bool{"a.1": true}}
		s := newSender(t, Config{URL: "https://hook.example/", Compose: o.compose})
		defer s.Close()
		s.client.Transport = h
		h.fails["a.1"] = true
		s.Tell(t.Context(), "a.1")
		s.Tell(t.Context(), "settled.1")
		synctest.Wait()
		o.set("a.1", false)
		time.Sleep(time.Hour)
		if h.attempts("a.1") != 1 || h.attempts("settled.1") != 0 {
			t.Errorf("settled questions are told: %v", h.received)
		}
		if len(s.pending) != 0 {
			t.Errorf("%d notices are pending", len(s.pending))
		}
	})
}

// TestRetriesTellTheQuestionAsItIs checks that a notice that is sent again has what the question
// says by then, and that one that couldn't be composed is tried again.
func TestRetriesTellTheQuestionAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHook()
		h.fails["a.1"] = true
		var mu sync.Mutex
		notice, broken := Notice{Ask: "a.1", Message: "Send the password 4711?"}, errors.New("the disk is full")
		s := newSender(t, Config{URL: "https://hook.example/", Compose: func(context.Context, string) (*Notice, error) {
			mu.Lock()
			defer mu.Unlock()
			n := notice
			return &n, broken
		}})
		defer s.Close()
		s.client.Transport = h
		s.Tell(t.Context(), "a.1")
		synctest.Wait()
		if h.attempts("a.1") != 0 {
			t.Error("a notice was sent that could not be composed")
		}
		mu.Lock()
		broken = nil
		mu.Unlock()
		time.Sleep(retryWaits[0])
		synctest.Wait()
		mu.Lock()
		notice.Message = "Send it?"
		mu.Unlock()
		h.mu.Lock()
		delete(h.fails, "a.1")
		h.mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		if got := h.messages["a.1"]; !slices.Equal(got, []string{"Send the password 4711?", "Send it?"}) {
			t.Errorf("the hook was told %q", got)
		}
	})
}

// TestTooManyNotices checks that what waits is bounded.
func TestTooManyNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHook()
		s := newSender(t, Config{URL: "https://hook.example/"})
		defer s.Close()
		s.client.Transport = h
		h.mu.Lock()
		for i := range 2 * maxPending {
			h.fails[fmt.Sprint("bad.", i)] = true
		}
		h.mu.Unlock()
		told := 0
		go func() {
			for i := range 2 * maxPending {
				s.Tell(t.Context(), fmt.Sprint("bad.", i))
				told++
			}
			s.Tell(t.Context(), "good.1")
		}()
		synctest.Wait()
		if told != maxPending || len(s.pending) != maxPending {
			t.Errorf("%d notices were taken, and %d are pending", told, len(s.pending))
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		s.Tell(stopped, "late.1")
		if s.IsTold(t.Context(), "late.1") {
			t.Error("a notice was taken without room")
		}
		time.Sleep(time.Hour) // until they have failed for good
		synctest.Wait()
		if h.attempts("good.1") != 1 {
			t.Error("once there is room, a notice isn't sent")
		}
	})
}

// TestRecordIsBounded checks that settled questions are forgotten, and that those that are open are told once, also by the next process.
func TestRecordIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, o := newHook(), &open{asks: make(map[string]bool)}
		state := smallstate.NewMemory()
		start := func() *Sender {
			s := newSender(t, Config{URL: "https://hook.example/", State: state, Compose: o.compose})
			s.client.Transport = h
			return s
		}
		s := start()
		const asks, keepOpen = 10 * minOld, 10
		for i := range asks {
			askID := fmt.Sprint("a.", i)
			o.set(askID, true)
			s.Tell(t.Context(), askID)
			synctest.Wait()
			o.set(askID, i%(asks/keepOpen) == 0)
		}
		if page, err := state.List(t.Context(), RecordBucket, "", asks); err != nil || len(page) > 2*minOld || len(s.told.soon) > 0 {
			t.Errorf("of %d questions, of which %d are open, the store has %d and the memory %d; %v", asks, keepOpen, len(page), len(s.told.soon), err)
		}
		for range 2 {
			for i := range asks {
				if askID := fmt.Sprint("a.", i); o.is(t.Context(), askID) {
					s.Tell(t.Context(), askID)
				}
			}
			synctest.Wait()
			s.Close()
			s = start()
		}
		defer s.Close()
		for askID, attempts := range h.received {
			if attempts != 1 {
				t.Errorf("%s was told %d times", askID, attempts)
			}
		}
		if len(h.received) != asks {
			t.Errorf("%d of %d questions were told", len(h.received), asks)
		}
	})
}
