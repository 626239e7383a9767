package testserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// params are the params of all requests together.
type params struct {
	Name            string                     `json:"name"`
	URI             string                     `json:"uri"`
	Arguments       json.RawMessage            `json:"arguments"`
	Cursor          string                     `json:"cursor"`
	ProtocolVersion string                     `json:"protocolVersion"`
	Capabilities    json.RawMessage            `json:"capabilities"` // of initialize
	Task            json.RawMessage            `json:"task"`
	TaskID          string                     `json:"taskId"`
	Responses       map[string]json.RawMessage `json:"inputResponses"`
	State           string                     `json:"requestState"`
	Notifications   struct {
		Tools     bool     `json:"toolsListChanged"`
		Prompts   bool     `json:"promptsListChanged"`
		Resources bool     `json:"resourcesListChanged"`
		URIs      []string `json:"resourceSubscriptions"`
	} `json:"notifications"`
	Meta struct {
		Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
		ProgressToken json.RawMessage `json:"progressToken"`
		Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// A request is a request of the client that is being served. A tool asks the client
// with it.
type request struct {
	params
	ctx     context.Context
	server  *Server
	session *session
	out     sender
	id      json.RawMessage
	version string

	task    *task // that the call has become, or nil
	asked   int   // the number of questions so far
	answers map[string]json.RawMessage
	open    map[string]question // questions without an answer, in the modern era
}

// isModern reports whether the request belongs to no session: the server can't send
// requests, and returns its questions as the result.
func (r *request) isModern() bool { return r.version == Versions[0] }

// declared returns the capabilities that the client has declared.
func (r *request) declared() json.RawMessage {
	if r.isModern() {
		return r.Meta.Capabilities
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.session.declared
}

// A question is a request to the client.
type question struct {
	Method string `json:"method"`
	Params any    `json:"params"`
}

var (
	// errInputRequired ends a modern request whose questions have no answers yet. The
	// client repeats the request with the answers, and the tool starts anew.
	errInputRequired = errors.New("input required")
	// errNoReply ends a request without a response.
	errNoReply = errors.New("no reply")
)

// A clientError is an error that the client answered with.
type clientError struct{ response *msg.Error }

func (e *clientError) Error() string { return e.response.Error() }

// elicit asks the person.
func (r *request) elicit(params any) (json.RawMessage, error) {
	return r.ask(question{"elicitation/create", params})
}

// ask asks the client, and returns the result of its response. If the response is an
// error, that is a clientError.
func (r *request) ask(q question) (json.RawMessage, error) {
	answers, err := r.askAll(q)
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// askAll asks several questions at once. It returns the first error.
func (r *request) askAll(questions ...question) ([]json.RawMessage, error) {
	switch {
	case r.task != nil:
		return r.task.ask(r, questions)
	case r.isModern():
		return r.takeAnswers(questions)
	}
	type outcome struct {
		i      int
		answer json.RawMessage
		err    error
	}
	outcomes := make(chan outcome, len(questions))
	for i, q := range questions {
		id := r.session.newID()
		go func() {
			answer, err := r.send(id, q)
			outcomes <- outcome{i, answer, err}
		}()
	}
	answers := make([]json.RawMessage, len(questions))
	var failed error
	for range questions {
		o := <-outcomes
		answers[o.i] = o.answer
		if failed == nil {
			failed = o.err
		}
	}
	return answers, failed
}

// send sends a request with an id to the client and waits for the response. If the
// client cancels its own request meanwhile, send withdraws this one.
func (r *request) send(id string, q question) (json.RawMessage, error) {
	response, forget := r.session.expectResponse(id)
	defer forget()
	out := r.out
	if r.server.options.AskApart {
		<-r.session.streamed
		r.session.mu.Lock()
		out = r.session.stream
		r.session.mu.Unlock()
	}
	if err := out.Send("", msg.Encode(msg.Outgoing{ID: json.RawMessage(id), Method: q.Method, Params: q.Params})); err != nil {
		return nil, err
	}
	select {
	case m := <-response:
		if m.Error != nil {
			return nil, &clientError{m.Error}
		}
		return m.Result, nil
	case <-r.ctx.Done():
		r.withdraw(id, "the request it belongs to was canceled")
		return nil, context.Cause(r.ctx)
	}
}

// withdraw cancels a request to the client.
func (r *request) withdraw(id, reason string) {
	r.notify("notifications/cancelled", object{"requestId": json.RawMessage(id), "reason": reason})
}

// takeAnswers returns the answers that came with a modern request, or errInputRequired.
func (r *request) takeAnswers(questions []question) ([]json.RawMessage, error) {
	answers := make([]json.RawMessage, len(questions))
	for i, q := range questions {
		r.asked++
		key := fmt.Sprintf("ask-%d", r.asked)
		if answers[i] = r.answers[key]; answers[i] == nil {
			r.open[key] = q
		}
	}
	if len(r.open) > 0 {
		return nil, errInputRequired
	}
	return answers, nil
}

// readState takes the answers of a modern request: those of earlier rounds from the
// state, the latest from the params.
func (r *request) readState() *msg.Error {
	r.answers, r.open = map[string]json.RawMessage{}, map[string]question{}
	if r.State != "" {
		raw, err := base64.RawURLEncoding.DecodeString(r.State)
		if err != nil || json.Unmarshal(raw, &r.answers) != nil {
			return msg.Errorf(mcp.INVALID_PARAMS, "requestState is not one of this server's")
		}
	}
	for key, answer := range r.Responses {
		r.answers[key] = answer
	}
	return nil
}

// inputRequired returns the open questions as a result.
func (r *request) inputRequired() object {
	state, err := json.Marshal(r.answers)
	if err != nil {
		panic(err) // they were valid JSON
	}
	return object{"resultType": "input_required", "inputRequests": r.open, "requestState": base64.RawURLEncoding.EncodeToString(state)}
}

// notify sends a notification on the request's stream. A client that is gone needs none.
func (r *request) notify(method string, params any) {
	_ = r.out.Send("", msg.EncodeNotification(method, params))
}

// progress reports progress, if the client wants it.
func (r *request) progress(done, total float64, text string) {
	if token := r.Meta.ProgressToken; token != nil {
		r.notify("notifications/progress", object{"progressToken": token, "progress": done, "total": total, "message": text})
	}
}

// log sends a log message.
func (r *request) log(level, text string) {
	r.notify("notifications/message", object{"level": level, "logger": "test-server", "data": text})
}

// wait waits for a time, or until the request is cancelled.
func (r *request) wait(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// argument decodes an argument into v, which keeps its value if there is none.
func (r *request) argument(name string, v any) error {
	var all map[string]json.RawMessage
	if r.Arguments != nil && json.Unmarshal(r.Arguments, &all) != nil {
		return msg.Errorf(mcp.INVALID_PARAMS, "arguments must be an object")
	}
	if all[name] == nil {
		return nil
	}
	if err := json.Unmarshal(all[name], v); err != nil {
		return msg.Errorf(mcp.INVALID_PARAMS, "%s: %s", name, msg.DescribeJSONError(err))
	}
	return nil
}

// number returns an argument that is a number between 0 and most, or what it is by
// default.
func (r *request) number(name string, byDefault, most int) (int, error) {
	n := byDefault
	if err := r.argument(name, &n); err != nil {
		return 0, err
	}
	if n < 0 || n > most {
		return 0, msg.Errorf(mcp.INVALID_PARAMS, "%s must be from 0 to %d, not %d", name, most, n)
	}
	return n, nil
}

// milliseconds returns an argument that is a number of milliseconds, at most an hour.
func (r *request) milliseconds(name string, byDefault int) (time.Duration, error) {
	n, err := r.number(name, byDefault, 3_600_000)
	return time.Duration(n) * time.Millisecond, err
}
