package tasks

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

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
