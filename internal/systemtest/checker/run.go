package checker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/checker/photons"
)

// A run is a run as its client has seen it. One goroutine uses it until it has ended.
type run struct {
	checker   *Checker
	random    *rand.Rand
	owner     Person
	name      string // unique, also its idempotency key
	play      play
	holdUntil chan struct{} // nil, or closed when its questions are to be answered

	id         string
	interrupts int64 // of the program, when the run was started
	began      time.Time
	events     []event
	last       uint64
	open       map[string]string   // keys of the open questions, by id
	given      map[string]string   // how the result shows the answers that count, by key
	maybe      map[string][]string // the same, of answers that may count: one of them does
	result     json.RawMessage
	status     string
	reason     string
	ended      time.Time
	checked    bool // what precedes has its final value; the checker's mutex guards it and what follows
	deleted    bool
}

// complete starts a run, follows it to its end, and checks it.
func (r *run) complete(ctx context.Context) error {
	c := r.checker
	r.open, r.given, r.maybe = make(map[string]string), make(map[string]string), make(map[string][]string)
	r.interrupts, r.began = c.interrupts.Load(), time.Now()
	if err := r.start(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	double := c.runs[r.id] != nil
	c.runs[r.id] = r
	c.mu.Unlock()
	if double {
		return errors.New("the run is another one's, too")
	}
	for r.status == "" {
		if err := r.follow(ctx); err != nil {
			return err
		}
	}
	r.ended = time.Now()
	c.count("runs", 1)
	if err := r.checkEnd(); err != nil {
		return err
	}
	if err := r.checkHistory(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	r.checked = true
	c.mu.Unlock()
	if r.random.IntN(5) == 0 {
		return r.delete(ctx)
	}
	return nil
}

// start starts the run. The request has an idempotency key, and sometimes is repeated.
func (r *run) start(ctx context.Context) error {
	args := fmt.Sprintf(`{"name":%q,"ledger":%q,"millis":%d}`, r.name, r.checker.Ledger, r.play.millis)
	if r.play.fallback != nil {
		args = "{}"
	}
	for range 1 + r.random.IntN(2) {
		q := request{by: r.owner, method: http.MethodPost, path: "/photons/" + r.play.photon + "/runs", body: []byte(args), header: []string{"Idempotency-Key", r.name}}
		response, err := r.checker.do(ctx, q)
		if err != nil {
			return err
		}
		var started struct{ ID string }
		if err := json.Unmarshal(response.body, &started); err != nil || response.status != http.StatusCreated || started.ID == "" {
			return fmt.Errorf("the start gets %d %s", response.status, response.body)
		}
		if r.id != "" && r.id != started.ID {
			return fmt.Errorf("the start, repeated, starts %s", started.ID)
		}
		r.id = started.ID
	}
	return nil
}

// follow reads the run's stream from where it was cut off, until it is again.
func (r *run) follow(ctx context.Context) error {
	q := request{by: r.owner, method: http.MethodGet, path: "/runs/" + r.id + "/events"}
	if r.last > 0 {
		q.header = []string{"Last-Event-ID", strconv.FormatUint(r.last, 10)}
	}
	response, _, err := r.checker.open(ctx, q)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	r.checker.count("streams", 1)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("its stream after %d gets %s", r.last, response.Status)
	}
	for e := range readEvents(response.Body) {
		if err := r.addEvent(ctx, e); err != nil || r.status != "" {
			return err
		}
	}
	return nil
}

// A message is what a stream has of a JSON-RPC message.
type message struct {
	ID, Method string
	Params     struct {
		RequestID, Reason string
		Meta              struct {
			Key string `json:"beam/key"`
		} `json:"_meta"`
	}
	Result json.RawMessage
}

// addEvent takes an event that was not sent before.
func (r *run) addEvent(ctx context.Context, e event) error {
	n, err := strconv.ParseUint(e.id, 10, 64)
	if err != nil || n <= r.last {
		return fmt.Errorf("event %q follows event %d: %s", e.id, r.last, e.data)
	}
	var m message
	if err := json.Unmarshal([]byte(e.data), &m); err != nil {
		return fmt.Errorf("event %s: %w", e.id, err)
	}
	r.events, r.last = append(r.events, e), n
	r.checker.count("events", 1)
	for _, a := range r.play.answers {
		if a.secret != "" && strings.Contains(e.data, a.secret) {
			return fmt.Errorf("event %s has the secret: %s", e.id, e.data)
		}
	}
	switch m.Method {
	case "elicitation/create", "sampling/createMessage", "roots/list":
		return r.beAsked(ctx, m)
	case "notifications/message": // in place of a question that the owner may not answer, and isn't told of again
		if !strings.Contains(e.data, "Waits for "+photons.Approver) {
			return nil
		}
		m.ID, m.Params.Meta.Key = r.id+"."+e.id, "approve"
		defer delete(r.open, m.ID)
		return r.beAsked(ctx, m)
	case "notifications/cancelled":
		return r.settle(m)
	case "":
		return r.end(m)
	}
	return nil
}

// settle notes that a question is settled.
func (r *run) settle(m message) error {
	id := m.Params.RequestID
	key, open := r.open[id]
	if !open {
		return fmt.Errorf("question %s is settled, %s, and was settled before, or not asked", id, m.Params.Reason)
	}
	delete(r.open, id)
	if _, answered := r.given[key]; answered && !strings.HasPrefix(m.Params.Reason, "answered") {
		return fmt.Errorf("question %s is settled, %s, and its answer was acknowledged", key, m.Params.Reason)
	}
	r.checker.setAsk(id, askSettled)
	return nil
}

// setAsk notes what becomes of a question.
func (c *Checker) setAsk(id string, to askState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks[id] = to
}

// end notes how the run has ended.
func (r *run) end(m message) error {
	var result struct {
		Meta struct {
			Status string `json:"beam/status"`
			Reason string `json:"beam/reason"`
		} `json:"_meta"`
	}
	if m.ID != r.id {
		return fmt.Errorf("the response is that of %q", m.ID)
	}
	if err := json.Unmarshal(m.Result, &result); err != nil || result.Meta.Status == "" {
		return fmt.Errorf("the response is %s: %w", m.Result, err)
	}
	r.result, r.status, r.reason = m.Result, result.Meta.Status, result.Meta.Reason
	return nil
}

// checkEnd checks how the run has ended, and with which result.
func (r *run) checkEnd() error {
	if len(r.open) > 0 {
		return fmt.Errorf("it has ended with the questions %v", r.open)
	}
	if r.status == "interrupted" && r.mayBeInterrupted() {
		r.checker.count("interrupted", 1)
		return nil
	}
	want := r.play.status
	if want == "" {
		want = "completed"
	}
	if r.status != want || r.reason != r.play.reason {
		return fmt.Errorf("it has ended %s %s, want %s %s: %s", r.status, r.reason, want, r.play.reason, r.result)
	}
	if r.play.photon == "night" && time.Since(r.began) < time.Duration(r.play.millis)*time.Millisecond {
		return fmt.Errorf("it has slept less than %d ms", r.play.millis)
	}
	if want == "completed" {
		return r.checkResult(r.result)
	}
	return nil
}

// mayBeInterrupted reports whether the run isn't durable, and the program has ended since it was
// started.
func (r *run) mayBeInterrupted() bool {
	return r.play.fragile && (r.checker.interrupts.Load() > r.interrupts || r.interrupts%2 == 1)
}

// checkHistory reads the run's stream from the start: it must be what was read before. A run
// that is deleted has none.
func (r *run) checkHistory(ctx context.Context) error {
	for {
		response, _, err := r.checker.open(ctx, request{by: r.owner, method: http.MethodGet, path: "/runs/" + r.id + "/events"})
		if err != nil {
			return err
		}
		var again []event
		for e := range readEvents(response.Body) {
			again = append(again, e)
		}
		response.Body.Close()
		switch {
		case response.StatusCode == http.StatusNotFound && (r.deleted || r.mayBeDeleted()):
			r.checker.count("expired", 1)
			return nil
		case response.StatusCode != http.StatusOK:
			return fmt.Errorf("its stream gets %s", response.Status)
		case r.deleted:
			return errors.New("it is there again, and was deleted")
		case len(again) < len(r.events) && slices.Equal(again, r.events[:len(again)]):
			continue // it was cut off
		case !slices.Equal(again, r.events):
			return fmt.Errorf("its stream was %v, and is %v", r.events, again)
		}
		r.checker.count("histories", 1)
		return nil
	}
}

// clockSlack is how much later than the program a client may see that a run has ended.
const clockSlack = 10 * time.Second

// mayBeDeleted reports whether the run has been finished for as long as runs are kept.
func (r *run) mayBeDeleted() bool {
	return r.checker.KeepFor > 0 && time.Since(r.ended) > r.checker.KeepFor-clockSlack
}

// delete deletes the run.
func (r *run) delete(ctx context.Context) error {
	response, err := r.checker.do(ctx, request{by: r.owner, method: http.MethodPost, path: "/runs/" + r.id + "/delete"})
	switch {
	case err != nil:
		return err
	case response.status == http.StatusConflict:
		return nil // a backup is in progress, or somebody reads it
	case response.status == http.StatusAccepted || response.status == http.StatusNotFound && (response.uncertain || r.mayBeDeleted()):
		r.checker.mu.Lock()
		r.deleted = true
		r.checker.mu.Unlock()
		r.checker.count("deletions", 1)
		return nil
	}
	return fmt.Errorf("its deletion gets %d %s", response.status, response.body)
}
