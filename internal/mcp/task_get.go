package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// getTask serves tasks/get of MCP 2025-11-25. It waits for nobody. As issue 1869
// proposes, the task's open questions come with it, and it takes the answer to
// one.
func (s *Server) getTask(rc *requestContext, m message, p taskParams) reply {
	info, refused := s.findTaskRun(rc.client.caller, p.ID)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	answered := p.Meta.Response != nil
	if answered {
		if refused := s.recordElicitationResponse(rc, info, p.Meta.Response); refused != nil {
			return errorReply(m.ID, refused)
		}
		var err error
		info, err = s.awaitRunState(rc.inFlight.newContext(), rc.client.caller, info.ID, answerEffectWait, hasEndedOrAsked)
		if err != nil {
			return errorReply(m.ID, s.internalError("looking at a task", info.ID, err))
		}
	}
	r := struct {
		task
		Meta map[string]any `json:"_meta,omitempty"`
	}{task: rc.newTaskFor(rc.client, info)}
	// Who polls for a status alone is not told which task it is of: the
	// specification wants it said once.
	if meta := rc.taskMeta(rc.client, info); answered || len(meta) > 1 {
		r.Meta = meta
	}
	return reply{message: encodeResult(m.ID, r)}
}

// taskMeta is what _meta says of a task: which it is, and the questions that are
// open, if a client can show them in whatever way.
func (s *session) taskMeta(c *client, info engine.Info) map[string]any {
	meta := relatedTaskMeta(info.ID)
	if pending := s.pendingElicitations(c, info); len(pending) > 0 {
		meta[metaPendingElicitations] = pending
	}
	return meta
}

// pendingElicitations are the open questions of a task that are elicitations, whether or not
// the client declared that it takes those as requests.
func (s *session) pendingElicitations(c *client, info engine.Info) []elicitParams {
	able := *c
	able.Capabilities.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
	asks := call{server: s.server, session: s, client: &able, runID: info.ID}
	var pending []elicitParams
	for _, open := range info.Asks {
		b, missing, err := asks.buildClientRequest(open.Question, open.ID)
		if err != nil {
			s.server.logger.Error("showing a question", "run", info.ID, "err", err)
		}
		if p, ok := b.Params.(elicitParams); ok && missing == nil && err == nil {
			p.ElicitationID = open.ID
			pending = append(pending, p)
		}
	}
	return pending
}

// An elicitationResponse is the answer to an elicitation in a request's _meta.
type elicitationResponse struct {
	id     string
	result json.RawMessage // an ElicitResult
}

// parseElicitationResponse reads an elicitation-response. The error says which of its
// members is wrong.
func parseElicitationResponse(raw json.RawMessage) (elicitationResponse, *rpcError) {
	wrong := func(member, what string) (elicitationResponse, *rpcError) {
		return elicitationResponse{}, rpcErrorf(mcp.INVALID_PARAMS, "_meta[%q]%s %s", metaElicitationResponse, member, what)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return wrong("", "must be an object with elicitationId, action and, if that is accept, content")
	}
	var e elicitationResponse
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
	if content != nil && !bytes.Equal(content, jsonNull) && content[0] != '{' {
		return wrong(".content", "must be an object with a member for each field")
	}
	if bytes.Equal(content, jsonNull) {
		content = nil
	}
	e.result, _ = json.Marshal(struct {
		Action  ask.Action      `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{action, content})
	return e, nil
}

// recordElicitationResponse records an answer. One to a question that is settled changes
// nothing, whoever settled it: perhaps this very request, before.
func (s *Server) recordElicitationResponse(rc *requestContext, info engine.Info, raw json.RawMessage) *rpcError {
	e, refused := parseElicitationResponse(raw)
	if refused != nil {
		return refused
	}
	id, _, ok := runlog.SplitAskID(e.id)
	if !ok || id != info.ID {
		return rpcErrorf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId is of no question of this task", metaElicitationResponse)
	}
	ctx := context.Background() // the answer is given, though its client may be gone
	open, err := s.engine.OpenAsk(ctx, rc.client.caller, e.id)
	if err == nil && (open.Question.Kind == ask.KindSample || open.Question.Kind == ask.KindRoots) {
		err = engine.ErrAskNotFound // it is no elicitation
	}
	var a ask.Answer
	if err == nil {
		a, err = rc.client.ParseAnswer(open.Question, e.result)
	}
	if err == nil && open.Question.OnPage() && a.Action == ask.Accept {
		return nil // the person answers on Beam's page
	}
	if err == nil {
		err = s.engine.Answer(ctx, rc.client.caller, e.id, a, surfaceMCP)
	}
	var invalid *generators.InvalidError
	switch {
	case err == nil, errors.Is(err, engine.ErrSettled):
		return nil
	case errors.Is(err, engine.ErrAskNotFound):
		return rpcErrorf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId is of no question of this task", metaElicitationResponse)
	case errors.As(err, &invalid):
		refused := rpcErrorf(mcp.INVALID_PARAMS, "_meta[%q].content does not fit; the question is still open: %v", metaElicitationResponse, invalid)
		refused.Data = invalid
		return refused
	}
	return s.internalError("taking an answer", info.ID, err)
}

// internalError is the error for a fault of Beam's own. Its cause is for the log.
func (s *Server) internalError(doing, run string, err error) *rpcError {
	s.logger.Error(doing, "run", run, "err", err)
	return rpcErrorf(mcp.INTERNAL_ERROR, "Beam could not serve this request; its log says why")
}
