package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/toolresult"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// The codes of errors that upstreams get.
const (
	codeNoAnswer = -32000
	codeRejected = -1 // of a sampling request that a person rejected (MCP, Sampling, Error Handling)
)

// maxQuestion is the size of a question of an upstream, in bytes of its params.
const maxQuestion = 1 << 20

// ask asks a question of the upstream as one of the run, in a goroutine: the call goes on
// meanwhile, and the upstream may take the question back.
func (p *passthrough) ask(r *client.ServerRequest) {
	p.mayAsk = true
	if r.IsCertain() {
		p.upstream.asking.learn(p.request, true)
	}
	if !p.inGoroutine(func() { p.settle(r) }) {
		r.PassOn(errRunOver)
	}
}

// errRunOver is what the upstream gets if no run can ask its question any more.
var errRunOver = message.Errorf(codeNoAnswer, "the run that asked was stopped")

// inGoroutine runs f, which asks, in a goroutine of the run that the call waits for. If
// the run has stopped, it reports false.
func (p *passthrough) inGoroutine(f func()) bool {
	p.asks.Add(1)
	p.clock.pause()
	done := func() {
		p.clock.resume()
		p.asks.Done()
	}
	started := generators.Go(p.yield, func(context.Context, generators.Yield) {
		defer done()
		f()
	})
	if !started {
		done()
	}
	return started
}

// settle asks the question of a request and responds to it.
func (p *passthrough) settle(r *client.ServerRequest) {
	if r.Context().Err() != nil {
		return
	}
	if len(r.Params) > maxQuestion {
		p.refuse(r, invalidf("the question has %d bytes; at most %d are allowed", len(r.Params), maxQuestion))
		return
	}
	end, err := p.upstream.policy.BeginAsk(p.session())
	switch {
	case errors.Is(err, policy.ErrElicitationDisabled) && r.Method != string(mcp.MethodElicitationCreate):
		end = func() {} // the setting is about people
	case errors.Is(err, policy.ErrElicitationDisabled):
		p.refuse(r, refusef(policy.AskDisabled, mcp.METHOD_NOT_FOUND, "%v", err))
		return
	case err != nil:
		p.refuse(r, refusef(policy.AskTooMany, codeNoAnswer, "%v", err))
		return
	}
	defer end()
	if refused := checkDeclared(r, p.declared); refused != nil {
		p.refuse(r, refused)
		return
	}
	q, refused := p.upstream.questions.of(r)
	if refused != nil {
		p.refuse(r, refused)
		return
	}
	p.respond(r, q)
}

// A refusal is the error for an upstream whose request nobody is asked, and how it counts.
type refusal struct {
	outcome policy.AskOutcome
	*message.Error
}

func refusef(outcome policy.AskOutcome, code int, format string, args ...any) *refusal {
	return &refusal{outcome, message.Errorf(code, format, args...)}
}

// invalidf returns the refusal of a request that can't be asked.
func invalidf(format string, args ...any) *refusal {
	return refusef(policy.AskInvalid, mcp.INVALID_PARAMS, format, args...)
}

// refuse refuses a request that nobody is asked, and records that.
func (p *passthrough) refuse(r *client.ServerRequest, refused *refusal) {
	p.upstream.policy.RecordRefusal(policy.AuditRecord{
		Tool: toolOf(p.request), Person: generators.CallerOf(p.ctx).ID, Kind: r.Method, Outcome: refused.outcome,
		Reason: policy.CleanLine(refused.Message, maxEventText), Question: policy.DigestOf(r.Params),
	})
	r.Refuse(refused.Error)
}

// A question is a request of an upstream that can be asked.
type question struct {
	// ask asks it and returns the result for the upstream.
	ask  func(yield generators.Yield) (json.RawMessage, error)
	note string // what the person should know of it
	// declined and cancelled are the results of a question that was; nil for an error.
	declined, cancelled json.RawMessage
	// rejected is the text of that error.
	rejected string
}

// respond asks a question and sends what came of it.
func (p *passthrough) respond(r *client.ServerRequest, q *question) {
	withdrawable := &withdrawer{yield: p.yield}
	defer context.AfterFunc(r.Context(), func() { withdrawable.withdraw(context.Cause(r.Context()).Error()) })()
	var isAbsent atomic.Bool
	if p.client.Presence != nil {
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		go func() {
			if p.client.Presence.AwaitAbsence(ctx) {
				isAbsent.Store(true)
				withdrawable.withdraw(nobodyThere)
			}
		}()
	}
	result, err := q.ask(p.named(r.IsCertain(), q.note, withdrawable.yieldCall))
	if r.IsCertain() {
		toolresult.RecordQuestion(p.ctx, err)
	}
	switch {
	case err == nil:
		r.Reply(result)
	case errors.Is(err, ask.ErrDeclined) && q.declined != nil:
		r.Reply(q.declined)
	case errors.Is(err, ask.ErrCancelled) && q.cancelled != nil:
		r.Reply(q.cancelled)
	case errors.Is(err, driver.ErrWithdrawn) && isAbsent.Load():
		r.PassOn(message.Errorf(codeNoAnswer, nobodyThere))
	case p.ctx.Err() != nil, errors.Is(err, ask.ErrStopped), errors.Is(err, ask.ErrSuspended):
		r.PassOn(errRunOver)
	default: // if it has been withdrawn because no reply is needed any more, none is sent
		r.Refuse(q.refusalOf(err))
	}
}

// named returns a Yield that says on a question which server asks it, and which of its tools. If
// the call isn't certain, it doesn't name a tool, and notes that the run may have nothing to do
// with the question.
func (p *passthrough) named(isCertain bool, note string, yield generators.Yield) generators.Yield {
	server, tool := p.upstream.server.Name, ""
	switch {
	case !isCertain:
		note = strings.TrimSpace(note + "\n" + fmt.Sprintf(uncertaintyNote, server))
	case p.request.Method == string(mcp.MethodToolsCall):
		tool = catalogue.JoinName(server, toolOf(p.request))
	}
	return func(e generators.Event) bool {
		if c, ok := driver.CallOf(e); ok {
			if asked, ok := askdata.Of(c); ok {
				named := *asked
				named.Server, named.Tool, named.Note = server, tool, note
				c.Question = &named
			}
		}
		return yield(e)
	}
}

const uncertaintyNote = "Several calls of the server %s are in progress, and it doesn't say which of them asks this. It may be another run's question; the answer reaches the right one."

// nobodyThere is why a question is withdrawn that nobody but a client can be asked which
// has left.
const nobodyThere = "nobody is there: the client of this call is not connected"

// refusalOf returns the error for the upstream of a question without an answer.
func (q *question) refusalOf(err error) *message.Error {
	var policy *ask.PolicyError
	switch {
	case errors.Is(err, ask.ErrDeclined), errors.Is(err, ask.ErrCancelled):
		return message.Errorf(codeRejected, "%s", q.rejected)
	case errors.Is(err, ask.ErrUnsupported):
		return message.Errorf(mcp.METHOD_NOT_FOUND, "nobody can be asked")
	case errors.As(err, &policy):
		return message.Errorf(mcp.INVALID_PARAMS, "%s", policy.Reason)
	case errors.Is(err, driver.ErrWithdrawn):
		return message.Errorf(codeNoAnswer, "the question was withdrawn")
	case errors.Is(err, ask.ErrTimeout):
		return message.Errorf(codeNoAnswer, "nobody answered in time")
	case errors.Is(err, ask.ErrInvalid):
		return message.Errorf(codeNoAnswer, "the answers did not fit the question")
	}
	return message.Errorf(mcp.INVALID_PARAMS, "%v", err)
}

// questions make questions of an upstream's requests.
type questions struct {
	policy       *policy.Policy
	isOwnAddress func(*url.URL) bool // see [Options]
	completions  *completions
}

// of returns the question that a request asks, or the error for the upstream.
func (qs *questions) of(r *client.ServerRequest) (*question, *refusal) {
	switch r.Method {
	case string(mcp.MethodElicitationCreate):
		return qs.elicitation(r)
	case string(mcp.MethodSamplingCreateMessage):
		return samplingQuestion(r)
	case string(mcp.MethodListRoots):
		return rootsQuestion(), nil
	}
	return nil, refusef(policy.AskInvalid, mcp.METHOD_NOT_FOUND, "there is no method %s", r.Method)
}

var (
	declinedResult  = json.RawMessage(`{"action":"decline"}`)
	cancelledResult = json.RawMessage(`{"action":"cancel"}`)
)

// samplingQuestion returns the question of sampling/createMessage.
func samplingQuestion(r *client.ServerRequest) (*question, *refusal) {
	var request ask.SampleRequest
	if err := json.Unmarshal(r.Params, &request); err != nil {
		return nil, invalidf("the sampling request is malformed: %s", message.DescribeJSONError(err))
	}
	return &question{rejected: "User rejected sampling request", ask: func(yield generators.Yield) (json.RawMessage, error) { // MCP's example
		result, err := ask.Sample(yield, "sampling", request)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}}, nil
}

func rootsQuestion() *question {
	return &question{rejected: "User rejected the request for roots", ask: func(yield generators.Yield) (json.RawMessage, error) {
		roots, err := ask.Roots(yield, "roots")
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"roots": roots})
	}}
}

// options returns the options of a question for people.
func (qs *questions) options() []ask.Option {
	if d := qs.policy.Elicitation().Timeout; d > 0 {
		return []ask.Option{ask.Timeout(d)}
	}
	return nil
}
