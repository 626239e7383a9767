package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

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
	var action askdata.Action
	_ = json.Unmarshal(members["action"], &action) // anything but a string is refused below
	switch action {
	case askdata.Accept, askdata.Decline, askdata.Cancel:
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
		Action  askdata.Action  `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{action, content})
	return e, nil
}

// recordElicitationResponse records an answer. An answer to a question that is settled
// has no effect: this very request may have settled it, if it is repeated.
func (s *Service) recordElicitationResponse(r Requester, info engine.Info, raw json.RawMessage) *msg.Error {
	e, refused := parseElicitationResponse(raw)
	if refused != nil {
		return refused
	}
	id, _, ok := runlog.SplitAskID(e.id)
	if !ok || id != info.ID {
		return msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId belongs to no question of this task", metaElicitationResponse)
	}
	ctx := answerContext()
	open, err := s.Engine.OpenAsk(ctx, r.Caller, e.id)
	if err == nil && (open.Question.Kind == askdata.KindSample || open.Question.Kind == askdata.KindRoots) {
		err = engine.ErrAskNotFound // not an elicitation
	}
	if err == nil {
		_, err = RecordAnswer(ctx, s.Engine, r.Caller, r.Client, open, e.result)
	}
	var invalid *generators.InvalidError
	switch {
	case err == nil, errors.Is(err, engine.ErrSettled):
		return nil
	case errors.Is(err, engine.ErrAskNotFound):
		return msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId belongs to no question of this task", metaElicitationResponse)
	case errors.Is(err, engine.ErrOthersAnswer), errors.Is(err, engine.ErrParked):
		return msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q].elicitationId: %v", metaElicitationResponse, err)
	case errors.As(err, &invalid):
		refused := msg.Errorf(mcp.INVALID_PARAMS, "_meta[%q].content is not valid; the question is still open: %v", metaElicitationResponse, invalid)
		refused.Data = invalid
		return refused
	}
	return s.internalError("recording an answer", info.ID, err)
}

// RecordAnswer records a client's result for an open question, unless it is merely the user's
// consent to open Beam's page.
func RecordAnswer(ctx context.Context, e *engine.Engine, caller generators.Caller, c *msg.Client, open engine.OpenAsk, result json.RawMessage) (consented bool, err error) {
	a, err := c.ParseAnswer(open.Question, result)
	if err != nil || msg.IsConsent(open.Question, a) {
		return err == nil, err
	}
	return false, e.AnswerShown(ctx, caller, open.ID, a, msg.Surface, msg.RenderingOf(open.Question))
}
