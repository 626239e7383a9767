package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runpause"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// A passthrough passes what an upstream says during a call on to the run that made the
// call, and the answers to its questions back.
type passthrough struct {
	upstream *Upstream
	ctx      context.Context
	yield    generators.Yield
	request  client.Request
	client   clientsession.Client // that made the call
	declared clientsession.Abilities
	conn     *connection
	clock    *callClock
	asks     sync.WaitGroup // questions in progress
	mayAsk   bool           // a question has come that is, or may be, the call's
}

// session returns what the limit of open questions holds for: the session of the client
// that made the call, or its owner if it has none.
func (p *passthrough) session() string {
	if p.client.Session != "" {
		return p.client.Session
	}
	return "owner " + generators.CallerOf(p.ctx).ID
}

// A ToolError is the error of a call that the upstream, or the way to it, failed. Its text
// is for the person and the model.
type ToolError struct {
	Text  string
	Cause error
}

func (e *ToolError) Error() string { return e.Text }

// Unwrap returns the cause: a [*message.Error] is the upstream's own.
func (e *ToolError) Unwrap() error { return e.Cause }

// Call makes a request of the upstream for the run that ctx and yield belong to, and
// returns its result as the upstream gave it. Meanwhile, the upstream's progress and logs
// are events of the run, and its questions are asked by it. The request is cancelled when
// ctx ends. The error is a [*ToolError], or that of the run's end.
func (u *Upstream) Call(ctx context.Context, yield generators.Yield, request client.Request) (json.RawMessage, error) {
	if request.Method == "tools/call" {
		end, err := u.policy.BeginCall(toolOf(request))
		if err != nil {
			return nil, &ToolError{Text: err.Error(), Cause: err}
		}
		result, err := u.call(ctx, yield, request)
		end(outcomeOf(ctx, err))
		return result, err
	}
	return u.call(ctx, yield, request)
}

func outcomeOf(ctx context.Context, err error) policy.CallOutcome {
	switch {
	case err == nil:
		return policy.CallCompleted
	case ctx.Err() != nil:
		return policy.CallCanceled
	}
	return policy.CallFailed
}

func toolOf(request client.Request) string {
	name, _ := rawjson.DecodeText(rawjson.Member(request.Params, "name"))
	return name
}

func (u *Upstream) call(ctx context.Context, yield generators.Yield, request client.Request) (json.RawMessage, error) {
	owner := generators.CallerOf(ctx).ID
	by := clientsession.Of(ctx)
	conn, err := u.connections.acquire(ctx, owner, by)
	if err != nil {
		return nil, &ToolError{Text: err.Error(), Cause: err}
	}
	defer u.connections.release(conn)
	endTurn, err := u.connections.takeTurn(ctx, yield, conn)
	if err != nil {
		return nil, err
	}
	defer endTurn()
	declared := u.connections.abilities(by)
	if by.Only != nil {
		request.Capabilities = encodeCapabilities(declared)
	}
	clock, ctx := newCallClock(ctx, u.server.Limits.CallTimeout)
	defer clock.stop()
	p := &passthrough{upstream: u, ctx: ctx, yield: yield, request: request, client: by, declared: declared, conn: conn, clock: clock}
	result, err := p.follow()
	for range maxRequiredRounds {
		urls := requiredURLs(err)
		if len(urls) == 0 {
			break
		}
		if err := p.askRequired(urls); err != nil {
			return nil, err
		}
		result, err = p.follow()
	}
	if err == nil || ctx.Err() != nil && !errors.Is(err, errCallTimeout) {
		return result, err
	}
	return nil, u.describeError(err)
}

// describeError returns the error of a call for the person and the model.
func (u *Upstream) describeError(err error) *ToolError {
	var input *client.InputError
	var refused *message.Error
	switch {
	case errors.As(err, &input):
		return &ToolError{Text: "The tool asked a question that got no answer: " + u.events.clean(input.Cause.Message), Cause: err}
	case errors.As(err, &refused) && refused.Message != "":
		return &ToolError{Text: u.events.clean(refused.Message), Cause: err}
	case errors.As(err, &refused):
		return &ToolError{Text: fmt.Sprintf("The upstream %s responded with the error %d, without a text.", u.server.Name, refused.Code), Cause: err}
	}
	u.events.recordError(err)
	return &ToolError{Text: fmt.Sprintf("The upstream %s failed: %s", u.server.Name, u.events.clean(err.Error())), Cause: err}
}

// follow makes the request, and passes everything on until its result, and until the questions
// are settled that it asks and that may be other calls'.
func (p *passthrough) follow() (json.RawMessage, error) {
	p.request.Observe = p.upstream.observerOf(p.ctx)
	call := p.conn.session.Call(p.ctx, p.request)
	p.upstream.callCount.Add(1)
	for {
		e, more := call.Next()
		if !more {
			break
		}
		switch {
		case e.Notification != nil:
			p.tell(*e.Notification)
		case e.Request != nil:
			p.ask(e.Request)
		case e.Elsewhere != nil:
			defer p.waitElsewhere(e.Elsewhere)()
		}
	}
	result, err := call.Result()
	if err == nil && !p.mayAsk {
		p.upstream.asking.learn(p.request, false)
	}
	p.asks.Wait() // those that can only be this call's have been withdrawn
	return result, err
}

// waitElsewhere notes that the call may wait for the answer to a question that another one's run
// asks, until that is settled or end is called.
func (p *passthrough) waitElsewhere(r *client.ServerRequest) (end func()) {
	p.mayAsk = true
	p.clock.pause()
	endPause := runpause.Begin(p.ctx, fmt.Sprintf("May be waiting for the answer to a question of the server %s, which another run asks", p.upstream.server.Name))
	resume := sync.OnceFunc(func() {
		endPause()
		p.clock.resume()
	})
	stop := context.AfterFunc(r.Context(), resume)
	return func() {
		stop()
		resume()
	}
}

// tell yields the event that a notification is. What isn't to be recorded can't be told.
func (p *passthrough) tell(n client.Notification) {
	switch p.upstream.policy.Record() {
	case config.RecordNothing:
		return
	case config.RecordMetadata:
		p.tellMetadata(n)
		return
	}
	switch n.Method {
	case "notifications/progress":
		var progress struct {
			Progress, Total float64
			Message         string
		}
		if json.Unmarshal(n.Params, &progress) == nil {
			p.yield(generators.Progress(progress.Progress, progress.Total, p.upstream.said(progress.Message)))
		}
	case "notifications/message":
		var log struct {
			Level  generators.Level
			Logger string
			Data   json.RawMessage
		}
		if json.Unmarshal(n.Params, &log) == nil && len(log.Data) > 0 {
			p.yield(&generators.LogEvent{Level: log.Level, Logger: p.upstream.said(log.Logger), Data: log.Data})
		}
	case "notifications/tasks/status":
		var status struct{ StatusMessage string }
		if json.Unmarshal(n.Params, &status) == nil && status.StatusMessage != "" {
			p.yield(generators.Status(p.upstream.said(status.StatusMessage)))
		}
	}
}

// tellMetadata yields a notification without its texts and data.
func (p *passthrough) tellMetadata(n client.Notification) {
	var params struct {
		Progress, Total float64
		Level           generators.Level
		Data            json.RawMessage
	}
	if json.Unmarshal(n.Params, &params) != nil {
		return
	}
	switch n.Method {
	case "notifications/progress":
		p.yield(generators.Progress(params.Progress, params.Total, ""))
	case "notifications/message":
		p.yield(&generators.LogEvent{Level: params.Level, Data: p.upstream.policy.Recorded(params.Data)})
	}
}

// maxText is the size of a text of an upstream that is an event, in bytes.
const maxText = 4 << 10

// said is text, but says who says what could pass for Beam's: its progress tells clients where
// to answer.
func (u *Upstream) said(s string) string {
	text := u.text(s)
	if bare := cleantext.Skeleton(text); strings.Contains(bare, "beam") || strings.Contains(bare, "answer at") {
		return "The server " + u.server.Name + " says: " + text
	}
	return text
}

// text returns a text of the upstream as a run shows it.
func (u *Upstream) text(s string) string { return policy.CleanLine(s, maxText) }
