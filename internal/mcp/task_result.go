package mcp

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

// getTaskResult serves tasks/result of MCP 2025-11-25: it waits for the task's end,
// and meanwhile puts its questions to the client. It tells nothing else: a task
// has a statusMessage.
func (s *Server) getTaskResult(rc *requestContext, m message, p taskParams, answer func(reply)) {
	info, refused := s.findTaskRun(rc.client.caller, p.ID)
	if refused != nil {
		answer(errorReply(m.ID, refused))
		return
	}
	f := s.newTaskFollower(rc, m, info)
	if rc.session.steps != nil {
		waits := f.async(answer)
		waits.endOnCancel()
		waits.Wake()
		return
	}
	if !rc.session.addResumableCall(f.call) { // it has ended meanwhile
		answer(reply{})
		return
	}
	rc.sender.setResumeCursor(f.cursor(0))
	answer(f.followRun())
}

// newTaskFollower follows a task's run from its beginning.
func (s *Server) newTaskFollower(rc *requestContext, m message, info engine.Info) *follower {
	quiet := *rc.client
	quiet.LogLevel = msg.NoLogging
	photon, ok := s.photons.Lookup(info.Photon)
	if !ok {
		photon = msg.PlaceholderPhoton(info.Photon)
	}
	c := &call{server: s, session: rc.session, client: &quiet, requestID: m.ID, photon: photon, sender: rc.sender, runID: info.ID, isTask: true, number: s.lastCallNumber.Add(1)}
	return c.newFollower(rc.sender, rc.inFlight)
}

// cancelTask serves tasks/cancel of MCP 2025-11-25.
func (s *Server) cancelTask(rc *requestContext, m message, p taskParams) reply {
	info, refused := s.findTaskRun(rc.client.caller, p.ID)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	wasOver := info.State.Ended()
	if !wasOver {
		if err := s.engine.Cancel(context.Background(), rc.client.caller, info.ID); err != nil {
			return errorReply(m.ID, s.internalError("cancelling a task", info.ID, err))
		}
		if info, refused = s.findTaskRun(rc.client.caller, p.ID); refused != nil {
			return errorReply(m.ID, refused)
		}
	}
	t := newTask(info)
	if wasOver || t.Status != taskCancelled {
		return errorReply(m.ID, rpcErrorf(mcp.INVALID_PARAMS, "the task can't be cancelled: it is %s already", t.Status))
	}
	return reply{message: encodeResult(m.ID, t)}
}

// taskPageSize is how many tasks a list has at once.
const taskPageSize = 100

// listTasks serves tasks/list of MCP 2025-11-25, the newest first, to a caller
// who is known: anybody else may know a task by its id alone (Tasks, Task
// Isolation and Access Control).
func (s *Server) listTasks(rc *requestContext, m message, p taskParams) reply {
	if !rc.identified {
		return errorReply(m.ID, rpcErrorf(mcp.METHOD_NOT_FOUND, "tasks are listed for a caller who is identified: over stdio, or with a bearer token"))
	}
	after := func(engine.Info) bool { return true }
	if p.Cursor != "" {
		var ok bool
		if after, ok = parseTaskListCursor(p.Cursor); !ok {
			return errorReply(m.ID, rpcErrorf(mcp.INVALID_PARAMS, "cursor is none of this list's: begin without one"))
		}
	}
	infos := s.engine.Runs(rc.client.caller, taskPageSize+1, func(i engine.Info) bool {
		return i.Surface == surfaceTask && after(i)
	})
	var page struct {
		Tasks []task `json:"tasks"`
		Next  string `json:"nextCursor,omitempty"`
	}
	page.Tasks = []task{}
	if len(infos) > taskPageSize {
		infos = infos[:taskPageSize]
		page.Next = taskListCursor(infos[taskPageSize-1])
	}
	for _, i := range infos {
		page.Tasks = append(page.Tasks, newTask(i))
	}
	return reply{message: encodeResult(m.ID, page)}
}

// taskListCursor names the last task of a page: its place in the order, which it
// keeps when it is deleted.
func taskListCursor(i engine.Info) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(i.Started.UnixNano(), 10) + "." + i.ID))
}

// parseTaskListCursor accepts what comes after a cursor in the order of [run.Engine.Runs].
func parseTaskListCursor(cursor string) (func(engine.Info) bool, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	nanos, id, found := strings.Cut(string(raw), ".")
	n, notNumber := strconv.ParseInt(nanos, 10, 64)
	if err != nil || notNumber != nil || !found || id == "" {
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
