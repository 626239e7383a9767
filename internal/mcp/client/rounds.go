package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The limits of a call that requires input (MCP 2026-07-28, Multi Round-Trip Requests).
const (
	maxRounds      = 1000
	maxEmptyRounds = 10 // in which the server asks nothing
	maxRoundInputs = 100
	emptyRoundWait = 100 * time.Millisecond // before the second; each further waits twice as long
)

// start sends the first request of the call.
func (c *Call) start() {
	params := c.request.Params
	if c.needsTask() {
		params = withTaskParam(params)
	}
	c.begin(&pendingRequest{method: c.request.Method, params: params, tool: c.request.Tool}, c.handleReply)
}

// handleReply handles the response to a round of the call.
func (c *Call) handleReply(result json.RawMessage, err error) {
	if err != nil {
		c.finish(nil, err)
		return
	}
	if rawjson.TypeName(result) != rawjson.ObjectType {
		c.finish(nil, errors.New("the server's result is not an object"))
		return
	}
	if c.followTask(result) {
		return
	}
	if !c.session.IsModern() {
		c.finish(result, nil)
		return
	}
	switch kind := textMember(result, "resultType"); kind {
	case "", "complete":
		c.finish(result, nil)
	case "input_required":
		c.beginRound(result)
	default:
		c.finish(nil, fmt.Errorf("the server's result has the type %q, which Beam doesn't know", humanize.Truncate(kind, 50)))
	}
}

// requiredInputs collect the answers to the questions of one result that requires input.
type requiredInputs struct {
	call  *Call
	state json.RawMessage // the server's requestState; nil if it gave none

	mu      sync.Mutex
	left    int
	answers map[string]json.RawMessage
	send    func(answers map[string]json.RawMessage)
}

// beginRound asks what a result requires.
func (c *Call) beginRound(result json.RawMessage) {
	state := rawjson.Member(result, "requestState")
	if state != nil && rawjson.TypeName(state) != rawjson.TextType {
		c.finish(nil, errors.New("the server's requestState is not a text"))
		return
	}
	inputs, err := parseInputs(rawjson.Member(result, "inputRequests"))
	switch {
	case err != nil:
		c.finish(nil, err)
		return
	case len(inputs) == 0 && state == nil:
		c.finish(nil, errors.New("the server requires input, but doesn't say which"))
		return
	}
	c.mu.Lock()
	c.rounds++
	rounds := c.rounds
	c.mu.Unlock()
	if rounds > maxRounds || len(inputs) == 0 && rounds > maxEmptyRounds {
		c.finish(nil, fmt.Errorf("the server required input %d times, which is too often", rounds))
		return
	}
	r := &requiredInputs{call: c, state: state}
	r.send = func(answers map[string]json.RawMessage) { c.sendRound(state, answers) }
	if len(inputs) == 0 {
		wait := emptyRoundWait << (rounds - 1)
		time.AfterFunc(wait, func() { r.send(nil) })
		return
	}
	r.ask(inputs)
}

// An input is one question of a result that requires input.
type input struct {
	key    string
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// parseInputs returns the questions of a result, in the server's order.
func parseInputs(raw json.RawMessage) (inputs []input, err error) {
	if raw == nil {
		return nil, nil
	}
	if rawjson.TypeName(raw) != rawjson.ObjectType {
		return nil, errors.New("the server's inputRequests are not an object")
	}
	rawjson.EachMember(raw, func(name []byte, value json.RawMessage) {
		i := input{key: string(name)}
		switch {
		case err != nil:
		case len(inputs) == maxRoundInputs:
			err = fmt.Errorf("the server requires more than %d inputs at once", maxRoundInputs)
		case json.Unmarshal(value, &i) != nil:
			err = fmt.Errorf("the server's input request %q is not valid", humanize.Truncate(i.key, 50))
		case i.Method != string(mcp.MethodElicitationCreate) && i.Method != string(mcp.MethodSamplingCreateMessage) && i.Method != string(mcp.MethodListRoots):
			err = fmt.Errorf("the server requires the input %q, which Beam doesn't know", humanize.Truncate(i.Method, 50))
		default:
			inputs = append(inputs, i)
		}
	})
	return inputs, err
}

// ask adds the questions to the call's events.
func (r *requiredInputs) ask(inputs []input) {
	c := r.call
	r.left, r.answers = len(inputs), make(map[string]json.RawMessage, len(inputs))
	for _, i := range inputs {
		q := &ServerRequest{Method: i.Method, Params: objectOrEmpty(i.Params), Key: i.key}
		q.ctx, q.cancel = context.WithCancelCause(c.ctx)
		q.respond = func(result json.RawMessage, refused *message.Error) { r.addAnswer(i.key, result, refused) }
		if !q.offer(c) {
			q.withdraw(errCallOver)
			return
		}
	}
}

// addAnswer adds an answer. The last one begins the next round.
func (r *requiredInputs) addAnswer(key string, result json.RawMessage, refused *message.Error) {
	if refused != nil {
		r.call.finish(nil, &InputError{Key: key, Cause: refused})
		return
	}
	r.mu.Lock()
	r.answers[key] = result
	r.left--
	done := r.left == 0
	r.mu.Unlock()
	if done {
		r.send(r.answers)
	}
}

// sendRound sends the call's request again, with the answers and the server's state.
func (c *Call) sendRound(state json.RawMessage, answers map[string]json.RawMessage) {
	more := map[string]any{}
	if answers != nil {
		more["inputResponses"] = answers
	}
	if state != nil {
		more["requestState"] = state
	}
	params := message.WithMembers(objectOrEmpty(c.request.Params), more)
	c.begin(&pendingRequest{method: c.request.Method, params: params, tool: c.request.Tool}, c.handleReply)
}
