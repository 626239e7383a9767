package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// A Request is a request of a client in a session.
type Request struct {
	Session  *Session
	Client   *requests.Client
	InFlight *requests.InFlight
	Sender   requests.Sender
	Message  msg.Incoming
	Params   *requests.Params
}

// ID returns the request's id.
func (r *Request) ID() json.RawMessage { return r.Message.ID }

// Is reports whether the request has a method.
func (r *Request) Is(method mcp.MCPMethod) bool { return r.Message.Method == string(method) }

// Result returns the reply with a result.
func (r *Request) Result(result any) requests.Reply {
	return requests.Reply{Message: msg.EncodeResult(r.ID(), result)}
}

// Error returns the reply with an error.
func (r *Request) Error(err *msg.Error) requests.Reply { return requests.ErrorReply(r.ID(), err) }

// TaskRequester returns the request's client as the package tasks knows it.
func (r *Request) TaskRequester() tasks.Requester { return r.Session.TaskRequester(r.Client) }

// TaskRequester returns a client of the session as the package tasks knows it.
func (s *Session) TaskRequester(c *requests.Client) tasks.Requester {
	return tasks.Requester{
		Caller: c.Caller, Client: &c.Client, PageBaseURL: s.PageBaseURL, Identified: s.Identified,
		Reachable: c.IsModern() || s.Stream.Current() != nil,
	}
}

// HandleNotification handles a notification of the client. It ignores unknown ones.
func (s *Session) HandleNotification(m msg.Incoming) {
	switch m.Method {
	case string(mcp.MethodNotificationInitialized):
		s.markInitialized()
	case string(mcp.MethodNotificationCancelled):
		s.handleCancelled(m)
	}
}

// handleCancelled handles notifications/cancelled. An unknown id is not an error: the
// request may just have ended. A call whose stream broke off is no longer in flight,
// but its run goes on and is cancelled here.
func (s *Session) handleCancelled(m msg.Incoming) {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return
	}
	r := s.Requests.Find(params.ID)
	resumable := s.Calls.All()
	if r != nil {
		r.Tell(m.Raw)
		r.Cancel(requests.ErrCancelled)
	}
	// The request may be ending at this moment because its stream broke off; then
	// cancelling it does not cancel the call.
	for _, c := range resumable {
		if string(c.RequestID()) != string(params.ID) {
			continue
		}
		if r == nil {
			c.Record(m.Raw)
		}
		c.Cancel()
	}
}

// A responseChan receives the response for [Ask].
type responseChan chan msg.Incoming

// HandleResponse implements [requests.ResponseHandler].
func (h responseChan) HandleResponse(m msg.Incoming) { h <- m }

// Ask sends the client a request on the stream of the request r, and waits for the result.
// isSupported reports whether the client has declared the capability for it.
func Ask[T any](ctx context.Context, r *Request, method mcp.MCPMethod, isSupported bool, params any) (*T, error) {
	if !isSupported {
		return nil, fmt.Errorf("the client did not declare the capability for %s", method)
	}
	responses := make(responseChan, 1)
	id := "beam-" + strconv.FormatUint(r.Session.lastID.Add(1), 10)
	if err := r.Session.SendRequest(r.Sender, "", id, string(method), params, responses); err != nil {
		r.Session.Requests.Forget(id)
		return nil, err
	}
	select {
	case <-ctx.Done():
		r.Session.Requests.Forget(id)
		return nil, ctx.Err()
	case m := <-responses:
		if m.Error != nil {
			return nil, m.Error
		}
		var result T
		if err := json.Unmarshal(m.Result, &result); err != nil {
			return nil, fmt.Errorf("the client's answer to %s has the wrong shape", method)
		}
		return &result, nil
	}
}
