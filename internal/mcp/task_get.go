package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// getTask serves tasks/get of MCP 2025-11-25. It waits for nobody. As issue 1869
// proposes, the task's open questions come with it, and it takes the answer to
// one.
func (s *Server) getTask(x *exchange, m message, p taskParams) reply {
	info, refused := s.runOf(x.client.who, p.ID)
	if refused != nil {
		return fault(m.ID, refused)
	}
	answered := p.Meta.Response != nil
	if answered {
		if refused := s.takeElicited(x, info, p.Meta.Response); refused != nil {
			return fault(m.ID, refused)
		}
		var err error
		info, err = s.until(x.flight.context(), x.client.who, info.ID, soonDone, settledDown)
		if err != nil {
			return fault(m.ID, s.oops("looking at a task", info.ID, err))
		}
	}
	r := struct {
		task
		Meta map[string]any `json:"_meta,omitempty"`
	}{task: x.taskFor(x.client, info)}
	// Who polls for a status alone is not told which task it is of: the
	// specification wants it said once.
	if meta := x.taskMeta(x.client, info); answered || len(meta) > 1 {
		r.Meta = meta
	}
	return reply{message: response(m.ID, r)}
}

// taskMeta is what _meta says of a task: which it is, and the questions that are
// open, if a client can show them in whatever way.
func (s *session) taskMeta(c *client, info run.Info) map[string]any {
	meta := relatedTask(info.ID)
	if pending := s.pending(c, info); len(pending) > 0 {
		meta[metaPending] = pending
	}
	return meta
}

// pending are the open questions of a task that are elicitations, whether or not
// the client declared that it takes those as requests.
func (s *session) pending(c *client, info run.Info) []elicitParams {
	able := *c
	able.caps.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
	asks := call{server: s.server, session: s, client: &able, run: info.ID}
	var pending []elicitParams
	for _, open := range info.Asks {
		b, missing, err := asks.bid(open.Question, open.ID)
		if err != nil {
			s.server.logger.Error("showing a question", "run", info.ID, "err", err)
		}
		if p, ok := b.params.(elicitParams); ok && missing == nil && err == nil {
			p.ElicitationID = open.ID
			pending = append(pending, p)
		}
	}
	return pending
}

// An elicited is the answer to an elicitation in a request's _meta.
type elicited struct {
	id     string
	result json.RawMessage // an ElicitResult
}

// readElicited reads an elicitation-response. The error says which of its
// members is wrong.
func readElicited(raw json.RawMessage) (elicited, *rpcError) {
	wrong := func(member, what string) (elicited, *rpcError) {
		return elicited{}, faultf(mcp.INVALID_PARAMS, "_meta[%q]%s %s", metaResponse, member, what)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return wrong("", "must be an object with elicitationId, action and, if that is accept, content")
	}
	var e elicited
	if json.Unmarshal(members["elicitationId"], &e.id) != nil || e.id == "" {
		return wrong(".elicitationId", "must be the elicitationId of one of the task's pending elicitations, a string")
	}
	var action ask.Action
	_ = json.Unmarshal(members["action"], &action) // what is no string is no action
	switch action {
	case ask.Accept, ask.Decline, ask.Cancel:
	default:
		return wrong(".action", `must be "accept", "decline" or "cancel"`)
	}
	content := bytes.TrimSpace(members["content"])
	if content != nil && !bytes.Equal(content, null) && content[0] != '{' {
		return wrong(".content", "must be an object with a member for each field")
	}
	if bytes.Equal(content, null) {
		content = nil
	}
	e.result, _ = json.Marshal(struct {
		Action  ask.Action      `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{action, content})
	return e, nil
}

// takeElicited records an answer. One to a question that is settled changes
// nothing, whoever settled it: perhaps this very request, before.
func (s *Server) takeElicited(x *exchange, info run.Info, raw json.RawMessage) *rpcError {
	e, refused := readElicited(raw)
	if refused != nil {
		return refused
	}
	id, _, ok := log.SplitAskID(e.id)
	if !ok || id != info.ID {
		return faultf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId is of no question of this task", metaResponse)
	}
	ctx := context.Background() // the answer is given, though its client may be gone
	open, err := s.engine.Ask(ctx, x.client.who, e.id)
	if err == nil && (open.Question.Kind == ask.KindSample || open.Question.Kind == ask.KindRoots) {
		err = run.ErrNoAsk // it is no elicitation
	}
	var a ask.Answer
	if err == nil {
		a, err = (&call{client: x.client}).read(open.Question, e.result)
	}
	if err == nil && open.Question.OnPage() && a.Action == ask.Accept {
		return nil // the person answers on Beam's page
	}
	if err == nil {
		err = s.engine.Answer(ctx, x.client.who, e.id, a, surface)
	}
	var invalid *generators.InvalidError
	switch {
	case err == nil, errors.Is(err, run.ErrSettled):
		return nil
	case errors.Is(err, run.ErrNoAsk):
		return faultf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId is of no question of this task", metaResponse)
	case errors.As(err, &invalid):
		refused := faultf(mcp.INVALID_PARAMS, "_meta[%q].content does not fit; the question is still open: %v", metaResponse, invalid)
		refused.Data = invalid
		return refused
	}
	return s.oops("taking an answer", info.ID, err)
}

// oops is the error for a fault of Beam's own. Its cause is for the log.
func (s *Server) oops(doing, run string, err error) *rpcError {
	s.logger.Error(doing, "run", run, "err", err)
	return faultf(mcp.INTERNAL_ERROR, "Beam could not serve this request; its log says why")
}
