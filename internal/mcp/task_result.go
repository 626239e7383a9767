package mcp

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/run"
)

// taskResult serves tasks/result of MCP 2025-11-25: it waits for the task's end,
// and meanwhile puts its questions to the client. It tells nothing else: a task
// has a statusMessage.
func (s *Server) taskResult(x *exchange, m message, p taskParams, answer func(reply)) {
	info, refused := s.runOf(x.client.who, p.ID)
	if refused != nil {
		answer(fault(m.ID, refused))
		return
	}
	f := s.taskFollower(x, m, info)
	if x.session.steps != nil {
		waits := f.parked(answer)
		waits.heed()
		waits.Wake()
		return
	}
	if !x.session.keep(f.call) { // it has ended meanwhile
		answer(reply{})
		return
	}
	x.out.begin(f.cursor(0))
	answer(f.follow())
}

// taskFollower follows a task's run from its beginning.
func (s *Server) taskFollower(x *exchange, m message, info run.Info) *follower {
	quiet := *x.client
	quiet.least = silent
	photon, ok := s.photons.Lookup(info.Photon)
	if !ok {
		photon = standIn(info.Photon)
	}
	c := &call{server: s, session: x.session, client: &quiet, id: m.ID, photon: photon, out: x.out, run: info.ID, task: true, turn: s.turns.Add(1)}
	return c.follower(x.out, x.flight)
}

// cancelTask serves tasks/cancel of MCP 2025-11-25.
func (s *Server) cancelTask(x *exchange, m message, p taskParams) reply {
	info, refused := s.runOf(x.client.who, p.ID)
	if refused != nil {
		return fault(m.ID, refused)
	}
	wasOver := info.State.Ended()
	if !wasOver {
		if err := s.engine.Cancel(context.Background(), x.client.who, info.ID); err != nil {
			return fault(m.ID, s.oops("cancelling a task", info.ID, err))
		}
		if info, refused = s.runOf(x.client.who, p.ID); refused != nil {
			return fault(m.ID, refused)
		}
	}
	t := taskOf(info)
	if wasOver || t.Status != taskCancelled {
		return fault(m.ID, faultf(mcp.INVALID_PARAMS, "the task can't be cancelled: it is %s already", t.Status))
	}
	return reply{message: response(m.ID, t)}
}

// listPage is how many tasks a list has at once.
const listPage = 100

// listTasks serves tasks/list of MCP 2025-11-25, the newest first, to a caller
// who is known: anybody else may know a task by its id alone (Tasks, Task
// Isolation and Access Control).
func (s *Server) listTasks(x *exchange, m message, p taskParams) reply {
	if !x.identified {
		return fault(m.ID, faultf(mcp.METHOD_NOT_FOUND, "tasks are listed for a caller who is identified: over stdio, or with a bearer token"))
	}
	after := func(run.Info) bool { return true }
	if p.Cursor != "" {
		var ok bool
		if after, ok = afterCursor(p.Cursor); !ok {
			return fault(m.ID, faultf(mcp.INVALID_PARAMS, "cursor is none of this list's: begin without one"))
		}
	}
	infos := s.engine.Runs(x.client.who, listPage+1, func(i run.Info) bool {
		return i.Surface == taskSurface && after(i)
	})
	var page struct {
		Tasks []task `json:"tasks"`
		Next  string `json:"nextCursor,omitempty"`
	}
	page.Tasks = []task{}
	if len(infos) > listPage {
		infos = infos[:listPage]
		page.Next = listCursor(infos[listPage-1])
	}
	for _, i := range infos {
		page.Tasks = append(page.Tasks, taskOf(i))
	}
	return reply{message: response(m.ID, page)}
}

// listCursor names the last task of a page: its place in the order, which it
// keeps when it is deleted.
func listCursor(i run.Info) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(i.Started.UnixNano(), 10) + "." + i.ID))
}

// afterCursor accepts what comes after a cursor in the order of [run.Engine.Runs].
func afterCursor(cursor string) (func(run.Info) bool, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	nanos, id, found := strings.Cut(string(raw), ".")
	n, notNumber := strconv.ParseInt(nanos, 10, 64)
	if err != nil || notNumber != nil || !found || id == "" {
		return nil, false
	}
	started := time.Unix(0, n)
	return func(i run.Info) bool {
		if order := i.Started.Compare(started); order != 0 {
			return order < 0
		}
		return i.ID < id
	}, true
}
