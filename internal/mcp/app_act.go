package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
)

// actFromView serves [apps.ActTool].
func (c *call) actFromView(ctx context.Context, raw json.RawMessage) (any, error) {
	var args apps.ActArguments
	if err := parseViewArguments(raw, &args); err != nil {
		return nil, err
	}
	info, err := c.findOwnRun(args.Run)
	if err != nil {
		return nil, err
	}
	switch args.Action {
	case string(ask.Accept), string(ask.Decline), string(ask.Cancel):
		return c.answerFromView(ctx, info, args)
	case apps.ActionStop:
		return acted{}, c.server.engine.Cancel(ctx, c.client.caller, info.ID, c.appSurface())
	case apps.ActionTell, apps.ActionUntell:
		return c.markTold(ctx, info, args)
	}
	return nil, argumentError("action must be accept, decline, cancel, stop, tell or untell")
}

// acted is the result of [apps.ActTool].
type acted struct {
	// Settled means that the question was settled before: by another answer, or because
	// the run went on.
	Settled bool `json:"settled,omitempty"`
	// Invalid is the question with what is wrong with the answer. It is still open.
	Invalid *apps.Question `json:"invalid,omitempty"`
	// Claimed means that the caller is the one to tell the model.
	Claimed bool `json:"claimed,omitempty"`
}

// errOnlyOnPage is the error for an answer that the chat may not give.
var errOnlyOnPage = errors.New("this question must be answered on Beam's page by somebody who is signed in there")

// maxViewValues is the size of what is filled in, in bytes.
const maxViewValues = 1 << 20

// answerFromView records an answer. The record says that it came through a chat, where
// nobody has signed in.
func (c *call) answerFromView(ctx context.Context, info engine.Info, args apps.ActArguments) (any, error) {
	open, err := c.server.engine.OpenAsk(ctx, c.client.caller, args.Ask)
	switch {
	case errors.Is(err, engine.ErrSettled):
		return acted{Settled: true}, nil
	case err != nil:
		return nil, err
	case open.Run != info.ID:
		return nil, errNoSuchRun
	}
	policy, a := c.policyFor(info), ask.Answer{Action: ask.Action(args.Action)}
	if !open.Excluded && !policy.Allows(open.Question, a.Action) { // the engine says who may answer
		return nil, errOnlyOnPage
	}
	values := url.Values(args.Values)
	if a.Action == ask.Accept {
		if len(values.Encode()) > maxViewValues {
			return nil, argumentError("the answer is too large: the limit is 1 MiB")
		}
		a.Content = form.Decode(open.Question.Fields, values, form.TimeZone(values))
	}
	shown := c.server.apps.View.RenderingOf(open)
	if args.Unseen && shown == runlog.RenderedFull {
		shown = runlog.RenderedTruncated
	}
	err = c.server.engine.AnswerShown(ctx, c.client.caller, open.ID, a, c.appSurface(), shown)
	var invalid *generators.InvalidError
	switch {
	case errors.Is(err, engine.ErrSettled):
		return acted{Settled: true}, nil
	case errors.As(err, &invalid):
		return c.renderInvalid(ctx, open, policy, values, invalid)
	}
	return acted{}, err
}

// policyFor returns which questions of a run may be answered in the chat.
func (c *call) policyFor(info engine.Info) apps.Policy {
	policy := c.server.apps.Policy
	if p, ok := c.server.photons.Lookup(info.Photon); ok {
		policy.OnPage = apps.HasView(p.Options().Definition)
	}
	return policy
}

// renderInvalid returns a question with what is wrong with the answer.
func (c *call) renderInvalid(ctx context.Context, open engine.OpenAsk, policy apps.Policy, values url.Values, invalid *generators.InvalidError) (any, error) {
	base, _ := c.session.pageBaseURL()
	q, err := c.server.apps.View.RenderInvalid(ctx, open, policy, base, values, invalid.Fields)
	return acted{Invalid: &q}, err
}

// appSurface returns the surface that what the view does is recorded with.
func (c *call) appSurface() string { return apps.SurfaceOf(c.client.name) }

// markTold claims to tell the model of the run's end, or takes the claim back.
func (c *call) markTold(ctx context.Context, info engine.Info, args apps.ActArguments) (any, error) {
	ctx = context.WithoutCancel(ctx) // a client that leaves mustn't leave a claim behind that nobody knows of
	part := apps.Part(args.Part)
	switch {
	case part != apps.Context && part != apps.Message:
		return nil, argumentError("part must be context or message")
	case !info.State.Ended():
		return nil, argumentError("the run has not ended")
	case args.Action == apps.ActionUntell:
		return acted{}, c.server.apps.Marks.Release(ctx, info.ID, part)
	}
	first, err := c.server.apps.Marks.Claim(ctx, info.ID, part)
	return acted{Claimed: first}, err
}

// noteResultReturned records that the model has the run's result, so that no view tells
// it again.
func (c *call) noteResultReturned(ctx context.Context) {
	if !c.isResume || !c.session.usesApps(c.client) {
		return
	}
	ctx = context.WithoutCancel(ctx) // the client may leave once it has the result
	for _, part := range []apps.Part{apps.Context, apps.Message} {
		if _, err := c.server.apps.Marks.Claim(ctx, c.runID, part); err != nil {
			c.server.logger.Warn("recording that a model has a run's result", "run", c.runID, "err", err)
		}
	}
}

// sweepMarks removes the marks of runs that have been deleted.
func (s *Server) sweepMarks(ctx context.Context) {
	if s.apps.View == nil {
		return
	}
	err := s.apps.Marks.Sweep(ctx, func(run string) bool { return s.engine.Exists(run) })
	if err != nil {
		s.logger.Warn("removing marks of deleted runs", "err", err)
	}
}
