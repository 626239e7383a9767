package tasks

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// getTask serves tasks/get of MCP 2025-11-25 without blocking. As issue 1869 proposes,
// the result includes the task's open questions, and the request may answer one.
func (s *Service) getTask(ctx context.Context, r Requester, p params) (any, *msg.Error) {
	info, refused := s.findRun(r.Caller, p.ID)
	if refused != nil {
		return nil, refused
	}
	answered := p.Meta.Response != nil
	if answered {
		if refused := s.recordElicitationResponse(r, info, p.Meta.Response); refused != nil {
			return nil, refused
		}
		var err error
		info, err = s.AwaitQuestions(ctx, r.Caller, info.ID, answerEffectWait)
		if err != nil {
			return nil, s.internalError("reading a task", info.ID, err)
		}
	}
	result := struct {
		task
		Meta map[string]any `json:"_meta,omitempty"`
	}{task: s.newTaskFor(r, info)}
	// A client that only polls the status gets no related-task member: the
	// specification wants the task's id only once.
	if meta := s.taskMeta(r, info); answered || len(meta) > 1 {
		result.Meta = meta
	}
	return result, nil
}

// taskMeta returns the _meta of a task: its id, and the open questions that a client
// may be able to show.
func (s *Service) taskMeta(r Requester, info engine.Info) map[string]any {
	meta := RelatedMeta(info.ID)
	if pending := s.pendingElicitations(r, info); len(pending) > 0 {
		meta[metaPendingElicitations] = pending
	}
	return meta
}

// pendingElicitations returns the open questions of a task that are elicitations,
// whether or not the client declared that capability.
func (s *Service) pendingElicitations(r Requester, info engine.Info) []msg.ElicitParams {
	able := *r.Client
	able.Capabilities.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
	r.Client = &able
	translator := s.translator(r, info)
	var pending []msg.ElicitParams
	for _, open := range info.Asks {
		if open.Excluded {
			continue
		}
		request, missing, err := translator.AskRequest(&open.Asked, open.ID)
		if err != nil {
			s.Logger.Error("building a pending elicitation", "run", info.ID, "err", err)
		}
		if p, ok := request.Params.(msg.ElicitParams); ok && missing == nil && err == nil {
			p.ElicitationID = open.ID
			pending = append(pending, p)
		}
	}
	return pending
}

// cancelTask serves tasks/cancel of MCP 2025-11-25.
func (s *Service) cancelTask(r Requester, p params) (any, *msg.Error) {
	info, refused := s.findRun(r.Caller, p.ID)
	if refused != nil {
		return nil, refused
	}
	hadEnded := info.State.Ended()
	if !hadEnded {
		if refused := s.cancelRun(r.Caller, info.ID); refused != nil {
			return nil, refused
		}
		if info, refused = s.findRun(r.Caller, p.ID); refused != nil {
			return nil, refused
		}
	}
	t := newTask(info)
	if hadEnded || t.Status != statusCancelled {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "the task can't be canceled: it is already %s", t.Status)
	}
	return t, nil
}
