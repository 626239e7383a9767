package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// maxListedRuns is the largest number of waiting runs that [ResumeTool] lists, and that a
// session remembers.
const maxListedRuns = 20

// listWaitingRuns returns the reply with the waiting runs that the client may resume: the
// caller's own, if the caller is identified, and otherwise those whose handles the session
// has returned.
func (c *call) listWaitingRuns() *reply {
	infos, err := c.findWaitingRuns()
	if err != nil {
		return c.handleErrorReply(ResumeTool, err)
	}
	result, err := c.waitingRunsResult(infos)
	if err != nil {
		return c.handleErrorReply(ResumeTool, err)
	}
	r := c.resultReply(result, "")
	return &r
}

func (c *call) findWaitingRuns() ([]engine.Info, error) {
	caller, identified, handles := c.client.caller, c.session.identified, c.session.returnedHandles()
	return c.server.engine.Runs(caller, maxListedRuns, func(i engine.Info) bool {
		isCall := i.Surface == msg.Surface || i.Surface == tasks.Surface
		waits := i.State == engine.Waiting || i.Pause() != ""
		return waits && isCall && i.Owner == caller.ID && (identified || slices.Contains(handles, i.ID))
	})
}

// metaWaitingRuns is the member of a result's _meta that repeats the list for programs.
const metaWaitingRuns = "io.github.photon-beam/waiting-runs"

func (c *call) waitingRunsResult(infos []engine.Info) (*msg.ToolResult, error) {
	runs := []waitingRun{}
	var text strings.Builder
	for _, info := range infos {
		run, err := c.newWaitingRun(info)
		if err != nil {
			return nil, err
		}
		run.Tool = info.Photon
		runs = append(runs, run)
		fmt.Fprintf(&text, "\nTool: %s\nHandle: %s\n%s", info.Photon, info.ID, describeQuestions(run.Asks))
		if run.Pause != "" {
			text.WriteString(run.Pause + ".\n")
		}
	}
	intro := "No tool call is waiting.\n"
	switch {
	case len(runs) == 1:
		intro = "One tool call is waiting.\n"
	case len(runs) == maxListedRuns:
		intro = fmt.Sprintf("%d or more tool calls are waiting. These are the latest.\n", len(runs))
	case len(runs) > 1:
		intro = fmt.Sprintf("%d tool calls are waiting.\n", len(runs))
	case !c.session.identified && c.session.id == "":
		intro = "Calls can't be listed for a client that Beam doesn't recognize. Use the handle from the result of the earlier call.\n"
	}
	text.WriteString(c.howToGoOn(runs))
	result := &msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(strings.TrimSuffix(intro+text.String(), "\n"))}}
	result.Meta = map[string]any{metaWaitingRuns: runs}
	return result, nil
}

// howToGoOn tells a model how it goes on with the runs of a list; empty if there are none.
func (c *call) howToGoOn(runs []waitingRun) string {
	var asking, paused []waitingRun
	for _, r := range runs {
		if r.Pause == "" {
			asking = append(asking, r)
		} else {
			paused = append(paused, r)
		}
	}
	switch {
	case len(runs) == 0:
		return ""
	case len(paused) == 0:
		return "\n" + c.howToAnswer(asking...)
	case len(asking) == 0:
		return "\n" + howToWait(paused...)
	}
	return "\n" + c.howToAnswer(asking...) + "\n\nThe calls without a question go on by themselves. " + howToWait(paused...)
}

// rememberHandle records that the session has returned a run's handle. It forgets the
// oldest if there are too many.
func (s *session) rememberHandle(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" || s.identified || slices.Contains(s.handles, id) {
		return
	}
	if len(s.handles) >= maxListedRuns {
		s.handles = slices.Delete(s.handles, 0, 1)
	}
	s.handles = append(s.handles, id)
}

func (s *session) returnedHandles() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.handles)
}
