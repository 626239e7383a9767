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
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// getTask serves tasks/get of MCP 2025-11-25 without blocking. As issue 1869 proposes,
// the result includes the task's open questions, and the request may answer one.
func (s *Server) getTask(rc *requestContext, m msg.Incoming, p taskParams) reply {
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
			return errorReply(m.ID, s.internalError("reading a task", info.ID, err))
		}
	}
	r := struct {
		task
		Meta map[string]any `json:"_meta,omitempty"`
	}{task: rc.newTaskFor(rc.client, info)}
	// A client that only polls the status gets no related-task member: the
	// specification wants the task's id only once.
	if meta := rc.taskMeta(rc.client, info); answered || len(meta) > 1 {
		r.Meta = meta
	}
	return reply{message: msg.EncodeResult(m.ID, r)}
}

// taskMeta returns the _meta of a task: its id, and the open questions that a client
// may be able to show.
func (s *session) taskMeta(c *client, info engine.Info) map[string]any {
	meta := relatedTaskMeta(info.ID)
	if pending := s.pendingElicitations(c, info); len(pending) > 0 {
		meta[metaPendingElicitations] = pending
	}
	return meta
}

// pendingElicitations returns the open questions of a task that are elicitations,
// whether or not the client declared that capability.
func (s *session) pendingElicitations(c *client, info engine.Info) []msg.ElicitParams {
	able := *c
	able.Capabilities.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
	asks := call{server: s.server, session: s, client: &able, runID: info.ID}
	var pending []msg.ElicitParams
	for _, open := range info.Asks {
		b, missing, err := asks.buildClientRequest(open.Question, open.ID)
		if err != nil {
			s.server.logger.Error("building a pending elicitation", "run", info.ID, "err", err)
		}
		if p, ok := b.Params.(msg.ElicitParams); ok && missing == nil && err == nil {
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

// parseElicitationResponse decodes an elicitation-response. The error names the member
// that is wrong.
func parseElicitationResponse(raw json.RawMessage) (elicitationResponse, *msg.Error) {
	refuse := func(member, what string) (elicitationResponse, *msg.Error) {
		return elicitationResponse{}, msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q]%s %s", metaElicitationResponse, member, what)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return refuse("", "must be an object with elicitationId, action and, if that is accept, content")
	}
	var e elicitationResponse
	if json.Unmarshal(members["elicitationId"], &e.id) != nil || e.id == "" {
		return refuse(".elicitationId", "must be the elicitationId of one of the task's pending elicitations, a string")
	}
	var action ask.Action
	_ = json.Unmarshal(members["action"], &action) // anything but a string is refused below
	switch action {
	case ask.Accept, ask.Decline, ask.Cancel:
	default:
		return refuse(".action", `must be "accept", "decline" or "cancel"`)
	}
	content := bytes.TrimSpace(members["content"])
	if content != nil && !bytes.Equal(content, msg.Null) && content[0] != '{' {
		return refuse(".content", "must be an object with a member for each field")
	}
	if bytes.Equal(content, msg.Null) {
		content = nil
	}
	e.result, _ = json.Marshal(struct {
		Action  ask.Action      `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{action, content})
	return e, nil
}

// recordElicitationResponse records an answer. An answer to a question that is settled
// has no effect: this very request may have settled it, if it is repeated.
func (s *Server) recordElicitationResponse(rc *requestContext, info engine.Info, raw json.RawMessage) *msg.Error {
	e, refused := parseElicitationResponse(raw)
	if refused != nil {
		return refused
	}
	id, _, ok := runlog.SplitAskID(e.id)
	if !ok || id != info.ID {
		return msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId belongs to no question of this task", metaElicitationResponse)
	}
	ctx := context.Background() // record the answer even if the client is gone
	open, err := s.engine.OpenAsk(ctx, rc.client.caller, e.id)
	if err == nil && (open.Question.Kind == ask.KindSample || open.Question.Kind == ask.KindRoots) {
		err = engine.ErrAskNotFound // not an elicitation
	}
	if err == nil {
		_, err = s.newTaskCall(rc, info).recordClientAnswer(ctx, open, e.result)
	}
	var invalid *generators.InvalidError
	switch {
	case err == nil, errors.Is(err, engine.ErrSettled):
		return nil
	case errors.Is(err, engine.ErrAskNotFound):
		return msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId belongs to no question of this task", metaElicitationResponse)
	case errors.As(err, &invalid):
		refused := msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q].content is not valid; the question is still open: %v", metaElicitationResponse, invalid)
		refused.Data = invalid
		return refused
	}
	return s.internalError("recording an answer", info.ID, err)
}

// internalError logs err and returns an error that does not disclose it.
func (s *Server) internalError(doing, run string, err error) *msg.Error {
	s.logger.Error(doing, "run", run, "err", err)
	return msg.Errorf(mcp.INTERNAL_ERROR, "Beam could not serve this request; its log says why")
}
