package client

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/recording"
)

// receive handles one message of the server, or a batch of 2025-03-26. origin is the
// request on whose stream it came; nil if the transport has one stream for all. The
// callee keeps raw. Messages of one stream must be received in order.
func (s *Session) receive(raw []byte, origin *pendingRequest) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		var batch []json.RawMessage
		if err := json.Unmarshal(raw, &batch); err != nil || len(batch) == 0 {
			s.fault("it sent a batch that is not valid JSON")
			return
		}
		for _, one := range batch {
			s.receiveOne(one, origin)
		}
		return
	}
	s.receiveOne(raw, origin)
}

func (s *Session) receiveOne(raw []byte, origin *pendingRequest) {
	m, invalid := message.Parse(raw)
	switch {
	case invalid != nil:
		s.handleInvalid(raw, origin, invalid)
	case m.IsResponse():
		s.handleResponse(m, origin)
	case m.IsRequest():
		s.handleRequest(m, origin)
	default:
		s.handleNotification(m, origin)
	}
}

// handleInvalid handles what is no valid message. If it is the response to a request, as
// far as can be told, the request fails.
func (s *Session) handleInvalid(raw []byte, origin *pendingRequest, invalid *message.Error) {
	if e := errorWithoutID(raw); e != nil && origin != nil {
		origin.observe(recording.In, raw)
		origin.finish(nil, e)
		return
	}
	s.fault("it sent a message that is not valid: %s", invalid.Message)
	if x := s.pendingFor(raw); x != nil && (origin == nil || origin.isStreamOf(x)) {
		x.observe(recording.In, raw)
		x.finish(nil, fmt.Errorf("the server sent a response that is not valid: %s", invalid.Message))
	}
}

// errTooLarge is the error of a message that isn't read.
var errTooLarge = fmt.Errorf("the server sent a message of more than %d bytes", message.MaxSize)

// handleTooLarge handles a message of the only stream that was too large. It may be the
// response that a call waits for: if it can't be told which, the session ends.
func (s *Session) handleTooLarge() {
	if c := s.onlyCall(); c != nil {
		s.fault("%v", errTooLarge)
		c.abandon(errTooLarge)
		return
	}
	s.End(errTooLarge)
}

// pendingFor returns the request that an invalid message responds to, or nil. The message
// may not even be JSON; its server can only end a request of its own.
func (s *Session) pendingFor(raw []byte) *pendingRequest {
	if rawjson.Member(raw, "method") != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[string(rawjson.Member(raw, "id"))]
}

// errorWithoutID returns the error of a response whose id is missing or null, as that
// to a request that the server couldn't read; nil if raw is something else.
func errorWithoutID(raw []byte) *message.Error {
	var m struct {
		ID     json.RawMessage
		Method string
		Error  json.RawMessage
	}
	if json.Unmarshal(raw, &m) != nil || m.Method != "" || m.Error == nil || m.ID != nil && !bytes.Equal(m.ID, message.Null) {
		return nil
	}
	return decodeError(m.Error)
}

// decodeError decodes the error of a response, with its data as raw JSON.
func decodeError(raw json.RawMessage) *message.Error {
	e := new(message.Error)
	if json.Unmarshal(raw, e) != nil {
		return nil
	}
	if data := rawjson.Member(raw, "data"); data != nil {
		e.Data = data
	}
	return e
}

// handleResponse ends the request that a response belongs to.
func (s *Session) handleResponse(m message.Incoming, origin *pendingRequest) {
	s.mu.Lock()
	x := s.pending[string(m.ID)]
	s.mu.Unlock()
	if x == nil {
		// The text "1" instead of the number 1 is what some servers make of an id.
		if text, _ := rawjson.DecodeText(m.ID); m.ID[0] == '"' {
			s.mu.Lock()
			x = s.pending[text]
			s.mu.Unlock()
		}
	}
	switch {
	case x == nil && s.wasUsed(m.ID):
		return // of a request that was cancelled
	case x == nil:
		s.fault("it responded to a request that doesn't exist")
	case origin != nil && !origin.isStreamOf(x):
		s.fault("it responded to a request on the stream of another one")
	case m.Error != nil:
		x.observe(recording.In, m.Raw)
		x.finish(nil, decodeError(rawjson.Member(m.Raw, "error")))
	default:
		x.observe(recording.In, m.Raw)
		x.finish(m.Result, nil)
	}
}

// isStreamOf reports whether other is x, or another request of the same call, which may
// get its response on x's stream.
func (x *pendingRequest) isStreamOf(other *pendingRequest) bool {
	return x == other || x.call != nil && x.call == other.call
}

// wasUsed reports whether an id is that of an earlier request.
func (s *Session) wasUsed(id json.RawMessage) bool {
	var n int64
	if json.Unmarshal(bytes.Trim(id, `"`), &n) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return n > 0 && n <= s.lastID
}

// handleNotification passes a notification on to its call, or to the session's owner.
func (s *Session) handleNotification(m message.Incoming, origin *pendingRequest) {
	n := Notification{Method: m.Method, Params: m.Params}
	switch m.Method {
	case "notifications/cancelled":
		s.handleCancelled(n, m.Raw)
		return
	case string(mcp.MethodNotificationSubscriptionsAcknowledged):
		s.handleAcknowledged(n, origin)
		return
	case "notifications/progress":
		if c := s.callOfProgress(n.Params); c != nil {
			c.observe(recording.In, m.Raw)
			c.events.push(Event{Notification: &n})
		}
		return // progress of a call that is over means nothing
	}
	if c := s.callOfNotification(n, origin); c != nil {
		c.observe(recording.In, m.Raw)
		c.events.push(Event{Notification: &n})
		return
	}
	s.options.HandleNotification(n)
}

// handleCancelled withdraws a request of the server that the server takes back with a
// notification, which is raw.
func (s *Session) handleCancelled(n Notification, raw []byte) {
	params := objectOrEmpty(n.Params)
	id := rawjson.Member(params, "requestId")
	s.mu.Lock()
	r := s.requests[string(id)]
	delete(s.requests, string(id))
	s.mu.Unlock()
	if r != nil {
		r.currentCall().observe(recording.In, raw)
		r.withdraw(withdrawnError(textMember(params, "reason")))
	}
}

// callOfProgress returns the call whose progress token params have.
func (s *Session) callOfProgress(params json.RawMessage) *Call {
	if rawjson.TypeName(params) != rawjson.ObjectType {
		return nil
	}
	token := string(bytes.Trim(rawjson.Member(params, "progressToken"), `"`))
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.pending[token]; x != nil {
		return x.call
	}
	for c := range s.calls { // the task that the call became keeps the token
		if c.hasToken(token) {
			return c
		}
	}
	return nil
}

// callOfNotification returns the call that a notification belongs to, or nil. Of what
// says nothing of a call, only log messages belong to one.
func (s *Session) callOfNotification(n Notification, origin *pendingRequest) *Call {
	if c := s.callOfTask(n.Params); c != nil {
		return c
	}
	if n.Method == string(mcp.MethodNotificationTasksStatus) {
		return nil
	}
	if origin != nil {
		return origin.call
	}
	if n.Method == "notifications/message" {
		if c := s.onlyCall(); c != nil {
			return c
		}
	}
	return nil
}

// callOfTask returns the call that became the task which the params are about or, in
// their _meta, are related to; nil if there is none.
func (s *Session) callOfTask(params json.RawMessage) *Call {
	params = objectOrEmpty(params)
	id := textMember(objectOrEmpty(rawjson.Member(objectOrEmpty(rawjson.Member(params, "_meta")), mcp.RelatedTaskMetaKey)), "taskId")
	if id == "" {
		id = textMember(params, "taskId")
	}
	if id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if c.task == id {
			return c
		}
	}
	return nil
}

// onlyCall returns the only call in progress, or nil.
func (s *Session) onlyCall() *Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != 1 {
		return nil
	}
	for c := range s.calls {
		return c
	}
	return nil
}
