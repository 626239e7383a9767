package tasks

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// getTask serves tasks/get of MCP 2025-11-25 without blocking. As issue 1869 proposes,
// the result includes the task's open questions, and the request may answer one.
func (s *Service) getTask(ctx context.Context, r Requester, p params) (any, *msg.Error) {
	info, refused := s.findRun(r.Caller, p.ID, Surface)
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
	info, refused := s.findRun(r.Caller, p.ID, Surface)
	if refused != nil {
		return nil, refused
	}
	hadEnded := info.State.Ended()
	if !hadEnded {
		if refused := s.cancelRun(r.Caller, info.ID); refused != nil {
			return nil, refused
		}
		if info, refused = s.findRun(r.Caller, p.ID, Surface); refused != nil {
			return nil, refused
		}
	}
	t := newTask(info)
	if hadEnded || t.Status != statusCancelled {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "the task can't be canceled: it is already %s", t.Status)
	}
	return t, nil
}

// pageSize is the maximum number of tasks on one page of a list.
const pageSize = 100

// listTasks serves tasks/list of MCP 2025-11-25, the newest first, for an identified
// caller. Anyone else must know a task's id (Tasks, Task Isolation and Access Control).
func (s *Service) listTasks(r Requester, p params) (any, *msg.Error) {
	if !r.Identified {
		return nil, msg.Errorf(mcp.METHOD_NOT_FOUND, "tasks are listed only for identified callers: over stdio, or with a bearer token")
	}
	after := func(engine.Info) bool { return true }
	if p.Cursor != "" {
		var ok bool
		if after, ok = parseCursor(p.Cursor); !ok {
			return nil, msg.Errorf(mcp.INVALID_PARAMS, "cursor is not from this list: start without one")
		}
	}
	infos, err := s.Engine.Runs(r.Caller, pageSize+1, func(i engine.Info) bool {
		return i.Surface == Surface && i.Owner == r.Caller.ID && after(i)
	})
	if err != nil {
		s.Logger.Error("listing tasks", "err", err)
		return nil, msg.Errorf(mcp.INTERNAL_ERROR, "the tasks can't be read now")
	}
	var page struct {
		Tasks []task `json:"tasks"`
		Next  string `json:"nextCursor,omitempty"`
	}
	page.Tasks = []task{}
	if len(infos) > pageSize {
		infos = infos[:pageSize]
		page.Next = newCursor(infos[pageSize-1])
	}
	for _, i := range infos {
		page.Tasks = append(page.Tasks, newTask(i))
	}
	return page, nil
}

// newCursor returns a cursor for the tasks after i. It stays valid when i is
// deleted.
func newCursor(i engine.Info) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(i.Started.UnixNano(), 10) + "." + i.ID))
}

// parseCursor returns a filter for the runs after a cursor, in the order of
// [engine.Engine.Runs].
func parseCursor(cursor string) (func(engine.Info) bool, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	nanos, id, found := strings.Cut(string(raw), ".")
	n, numberErr := strconv.ParseInt(nanos, 10, 64)
	if err != nil || numberErr != nil || !found || id == "" {
		return nil, false
	}
	started := time.Unix(0, n)
	return func(i engine.Info) bool {
		if order := i.Started.Compare(started); order != 0 {
			return order < 0
		}
		return i.ID < id
	}, true
}
