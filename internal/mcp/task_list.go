package mcp

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// taskPageSize is the maximum number of tasks on one page of a list.
const taskPageSize = 100

// listTasks serves tasks/list of MCP 2025-11-25, the newest first, for an identified
// caller. Anyone else must know a task's id (Tasks, Task Isolation and Access Control).
func (s *Server) listTasks(rc *requestContext, m msg.Incoming, p taskParams) reply {
	if !rc.identified {
		return errorReply(m.ID, msg.Errorf(mcp.METHOD_NOT_FOUND, "tasks are listed only for identified callers: over stdio, or with a bearer token"))
	}
	after := func(engine.Info) bool { return true }
	if p.Cursor != "" {
		var ok bool
		if after, ok = parseTaskListCursor(p.Cursor); !ok {
			return errorReply(m.ID, msg.Errorf(mcp.INVALID_PARAMS, "cursor is not from this list: start without one"))
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
	return reply{message: msg.EncodeResult(m.ID, page)}
}

// taskListCursor returns a cursor for the tasks after i. It stays valid when i is
// deleted.
func taskListCursor(i engine.Info) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(i.Started.UnixNano(), 10) + "." + i.ID))
}

// parseTaskListCursor returns a filter for the runs after a cursor, in the order of
// [engine.Engine.Runs].
func parseTaskListCursor(cursor string) (func(engine.Info) bool, bool) {
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
