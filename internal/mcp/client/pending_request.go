package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
)

// A pendingRequest is one request to the server, and its response. A [Call] consists of one
// or several.
type pendingRequest struct {
	session *Session
	id      json.RawMessage
	method  string
	params  json.RawMessage
	tool    json.RawMessage // the definition of the tool that is called; nil for other methods
	call    *Call           // nil for the session's own requests
	// taskOf is the call whose task the request is about, if it isn't one of the call itself.
	taskOf *Call
	// onAcknowledged is called when a subscription has begun; nil for other methods.
	onAcknowledged func()
	// ctx ends with the request; a transport may use it for its request.
	ctx    context.Context
	cancel context.CancelCauseFunc

	once     sync.Once
	onFinish func(result json.RawMessage, err error)
}

// begin sends a request. onFinish is called once, with the result or an error: a
// [*message.Error] is the server's. It must not block for long.
func (s *Session) begin(x *pendingRequest, onFinish func(json.RawMessage, error)) *pendingRequest {
	x.session, x.onFinish = s, onFinish
	x.ctx, x.cancel = context.WithCancelCause(s.ctx)
	s.mu.Lock()
	ended := s.ctx.Err() != nil
	if !ended {
		s.lastID++
		x.id = strconv.AppendInt(nil, s.lastID, 10)
		s.pending[string(x.id)] = x
	}
	s.mu.Unlock()
	if ended {
		x.finish(nil, fmt.Errorf("the connection ended: %w", s.Err()))
		return x
	}
	x.params = s.requestParams(x)
	raw := message.Encode(message.Outgoing{ID: x.id, Method: x.method, Params: x.params})
	x.observe(recording.Out, raw)
	s.transport.send(raw, x)
	return x
}

// observe passes a message on to what observes the call that the request is about.
func (x *pendingRequest) observe(way recording.Direction, raw []byte) {
	if x.taskOf != nil {
		x.taskOf.observe(way, raw)
		return
	}
	x.call.observe(way, raw)
}

// finish ends the request. Only the first call counts.
func (x *pendingRequest) finish(result json.RawMessage, err error) {
	x.once.Do(func() {
		if x.id != nil {
			x.session.mu.Lock()
			delete(x.session.pending, string(x.id))
			x.session.mu.Unlock()
		}
		x.onFinish(result, err)
		x.cancel(errRequestOver)
	})
}

var errRequestOver = fmt.Errorf("the request is over: %w", context.Canceled)

// abandon ends the request before its response, and notifies the server.
func (x *pendingRequest) abandon(cause error) {
	abandoned := false
	x.once.Do(func() {
		abandoned = true
		x.session.mu.Lock()
		delete(x.session.pending, string(x.id))
		x.session.mu.Unlock()
		x.onFinish(nil, cause)
	})
	if !abandoned {
		return
	}
	if x.method != string(mcp.MethodInitialize) && x.id != nil {
		raw := message.EncodeNotification("notifications/cancelled", cancelledParams{RequestID: x.id, Reason: cause.Error()})
		x.observe(recording.Out, raw)
		x.session.notify(raw)
	}
	x.cancel(cause)
}

type cancelledParams struct {
	RequestID json.RawMessage `json:"requestId"`
	Reason    string          `json:"reason,omitempty"`
}

// ErrNoResponse is wrapped by the error of a request without a response in time.
var ErrNoResponse = errors.New("the server didn't respond")

// Request sends a request of the session's own and waits for its result, at most as
// long as the session's RequestTimeout. The error may be a [*message.Error] of the
// server.
func (s *Session) Request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	var raw json.RawMessage
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.RequestTimeout, fmt.Errorf("%w to %s within %s", ErrNoResponse, method, s.options.RequestTimeout))
	defer cancel()
	return s.request(ctx, method, raw)
}

// request is like Request, but waits until ctx ends.
func (s *Session) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return s.await(ctx, &pendingRequest{method: method, params: params})
}

// await sends a request and waits for its result until ctx ends.
func (s *Session) await(ctx context.Context, x *pendingRequest) (json.RawMessage, error) {
	type outcome struct {
		result json.RawMessage
		err    error
	}
	done := make(chan outcome, 1)
	s.begin(x, func(result json.RawMessage, err error) { done <- outcome{result, err} })
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		x.abandon(context.Cause(ctx))
		o := <-done
		return o.result, o.err
	}
}
