package mcp

import (
	"encoding/json"
	"strconv"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
)

// parseCursor is the inverse of [call.cursor].
func parseCursor(cursor string) (key string, seq uint64, ok bool) {
	if id, found := cutZeroSeq(cursor); found {
		return id, 0, true
	}
	return runlog.SplitAskID(cursor) // cursors and ask ids have the same form
}

// cutZeroSeq removes ".0", which no ask id ends in.
func cutZeroSeq(cursor string) (string, bool) {
	n := len(cursor) - len(".0")
	if n <= 0 || cursor[n:] != ".0" {
		return "", false
	}
	return cursor[:n], true
}

// cursor returns the event id that a client resumes after.
func (c *call) cursor(seq uint64) string { return c.key() + "." + strconv.FormatUint(seq, 10) }

// key identifies the call in its session.
func (c *call) key() string { return c.runID + c.numberSuffix() }

// numberSuffix makes keys and ids unique among the calls of one run.
func (c *call) numberSuffix() string {
	if c.number == 0 {
		return ""
	}
	return "@" + strconv.FormatUint(uint64(c.number), 10)
}

// maxResumableCalls is the maximum number of resumable calls in a session.
const maxResumableCalls = 10_000

// addResumableCall adds a call that the client may resume if its stream breaks off. It
// reports false if the session has ended. If there are too many, it first evicts calls
// that have ended.
func (s *session) addResumableCall(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return false
	}
	if len(s.resumableCalls) >= maxResumableCalls {
		for key, old := range s.resumableCalls {
			if old.hasEnded() {
				delete(s.resumableCalls, key)
			}
		}
	}
	s.resumableCalls[c.key()] = c
	return true
}

func (s *session) removeResumableCall(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resumableCalls, c.key())
}

// findResumableCall returns the resumable call with the given key, or nil.
func (s *session) findResumableCall(key string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumableCalls[key]
}

// disconnectedCalls returns the resumable calls of a run that have no stream.
func (s *session) disconnectedCalls(id string) (calls []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.resumableCalls {
		if c.runID == id && s.requests.Find(c.requestID) == nil {
			calls = append(calls, c)
		}
	}
	return calls
}

// handleCancelled handles notifications/cancelled. An unknown id is not an error: the
// request may just have ended. A call whose stream broke off is no longer in flight,
// but its run goes on and is cancelled here.
func (s *session) handleCancelled(m msg.Incoming) {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return
	}
	r := s.requests.Find(params.ID)
	s.mu.Lock()
	var resumable []*call
	for _, c := range s.resumableCalls {
		if string(c.requestID) == string(params.ID) {
			resumable = append(resumable, c)
		}
	}
	s.mu.Unlock()
	if r != nil {
		r.Tell(m.Raw)
		r.Cancel(requests.ErrCancelled)
	}
	// The request may be ending at this moment because its stream broke off; then
	// cancelling it does not cancel the call.
	for _, c := range resumable {
		if r == nil {
			c.record(recording.In, m.Raw)
		}
		c.cancelCall()
	}
}
