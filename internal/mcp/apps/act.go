package apps

import (
	"context"
	"errors"
	"net/url"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runlog"
)

// act serves [ActTool].
func (t *Tools) act(ctx context.Context, call Call) (any, error) {
	var args ActArguments
	if err := parseArguments(call.Arguments, &args); err != nil {
		return nil, err
	}
	info, err := t.findOwnRun(call, args.Run)
	if err != nil {
		return nil, err
	}
	switch args.Action {
	case string(askdata.Accept), string(askdata.Decline), string(askdata.Cancel):
		return t.answer(ctx, call, info, args)
	case ActionStop:
		return acted{}, t.engine.Cancel(ctx, call.Caller, info.ID, SurfaceOf(call.ClientName))
	case ActionTell, ActionUntell:
		return t.markTold(ctx, info, args)
	}
	return nil, argumentError("action must be accept, decline, cancel, stop, tell or untell")
}

// acted is the result of [ActTool].
type acted struct {
	// Settled means that the question was settled before: by another answer, or because
	// the run went on.
	Settled bool `json:"settled,omitempty"`
	// Invalid is the question with what is wrong with the answer. It is still open.
	Invalid *Question `json:"invalid,omitempty"`
	// Claimed means that the caller is the one to tell the model.
	Claimed bool `json:"claimed,omitempty"`
}

// errOnlyOnPage is the error for an answer that the chat may not give.
var errOnlyOnPage = errors.New("this question must be answered on Beam's page by somebody who is signed in there")

// maxValues is the size of what is filled in, in bytes.
const maxValues = 1 << 20

// answer records an answer. The record says that it came through a chat, where
// nobody has signed in.
func (t *Tools) answer(ctx context.Context, call Call, info engine.Info, args ActArguments) (any, error) {
	open, err := t.engine.OpenAsk(ctx, call.Caller, args.Ask)
	switch {
	case errors.Is(err, engine.ErrSettled):
		return acted{Settled: true}, nil
	case err != nil:
		return nil, err
	case open.Run != info.ID:
		return nil, errNoSuchRun
	}
	policy, a := t.policyFor(info), askdata.Answer{Action: askdata.Action(args.Action)}
	if !open.Excluded && !policy.Allows(open.Question, a.Action) { // the engine says who may answer
		return nil, errOnlyOnPage
	}
	values := url.Values(args.Values)
	if a.Action == askdata.Accept {
		if len(values.Encode()) > maxValues {
			return nil, argumentError("the answer is too large: the limit is 1 MiB")
		}
		a.Content = form.Decode(open.Question.Fields, values, form.TimeZone(values))
	}
	shown := t.view.RenderingOf(open)
	if args.Unseen && shown == runlog.RenderedFull {
		shown = runlog.RenderedTruncated
	}
	err = t.engine.AnswerShown(ctx, call.Caller, open.ID, a, SurfaceOf(call.ClientName), shown)
	var invalid *generators.InvalidError
	switch {
	case errors.Is(err, engine.ErrSettled):
		return acted{Settled: true}, nil
	case errors.As(err, &invalid):
		return t.renderInvalid(ctx, call, open, policy, values, invalid)
	}
	return acted{}, err
}

// policyFor returns which questions of a run may be answered in the chat.
func (t *Tools) policyFor(info engine.Info) Policy {
	policy := t.policy
	if p, ok := t.photons.Lookup(info.Photon); ok {
		policy.OnPage = HasView(p.Options().Definition)
	}
	return policy
}

// renderInvalid returns a question with what is wrong with the answer.
func (t *Tools) renderInvalid(ctx context.Context, call Call, open engine.OpenAsk, policy Policy, values url.Values, invalid *generators.InvalidError) (any, error) {
	q, err := t.view.RenderInvalid(ctx, open, policy, call.Base, values, invalid.Fields)
	return acted{Invalid: &q}, err
}

// markTold claims to tell the model of the run's end, or takes the claim back.
func (t *Tools) markTold(ctx context.Context, info engine.Info, args ActArguments) (any, error) {
	ctx = context.WithoutCancel(ctx) // a client that leaves mustn't leave a claim behind that nobody knows of
	part := Part(args.Part)
	switch {
	case part != Context && part != Message:
		return nil, argumentError("part must be context or message")
	case !info.State.Ended():
		return nil, argumentError("the run has not ended")
	case args.Action == ActionUntell:
		return acted{}, t.marks.Release(ctx, info.ID, part)
	}
	first, err := t.marks.Claim(ctx, info.ID, part)
	return acted{Claimed: first}, err
}
