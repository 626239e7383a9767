package calls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// listWaitingRuns returns the reply with the waiting runs that the client may resume.
func (b *beamTools) listWaitingRuns(r *session.Request) requests.Reply {
	infos, err := b.findWaitingRuns(r)
	if err != nil {
		return b.handleFailure(r, err)
	}
	result, err := b.waitingRunsResult(r, infos)
	if err != nil {
		return b.handleFailure(r, err)
	}
	return b.starter.replies(r, toolResult).result(result, "")
}

// findWaitingRuns returns the caller's own waiting runs, if the caller is identified, and
// otherwise those whose handles the session has returned. There are at most
// [session.MaxHandles].
func (b *beamTools) findWaitingRuns(r *session.Request) ([]engine.Info, error) {
	caller, handles := r.Client.Caller, r.Session.Handles()
	return b.starter.config.Engine.Runs(caller, session.MaxHandles, func(i engine.Info) bool {
		isCall := i.Surface == msg.Surface || i.Surface == tasks.Surface
		waits := i.State == engine.Waiting || i.Pause() != ""
		return waits && isCall && i.Owner == caller.ID && (r.Session.Identified || slices.Contains(handles, i.ID))
	})
}

// metaWaitingRuns is the member of a result's _meta that repeats the list for programs.
const metaWaitingRuns = "io.github.photon-beam/waiting-runs"

func (b *beamTools) waitingRunsResult(r *session.Request, infos []engine.Info) (*msg.ToolResult, error) {
	runs := []waitingRun{}
	var text strings.Builder
	for _, info := range infos {
		run, err := newWaitingRun(info, r.Session.PageBaseURL)
		if err != nil {
			return nil, err
		}
		run.Tool = info.Photon
		runs = append(runs, run)
		questions := describeParked(run)
		if !run.parked {
			questions = describeQuestions(run.Asks)
		}
		fmt.Fprintf(&text, "\nTool: %s\nHandle: %s\n%s", info.Photon, info.ID, questions)
		if run.Pause != "" {
			text.WriteString(run.Pause + ".\n")
		}
	}
	intro := "No tool call is waiting.\n"
	switch {
	case len(runs) == 1:
		intro = "One tool call is waiting.\n"
	case len(runs) == session.MaxHandles:
		intro = fmt.Sprintf("%d or more tool calls are waiting. These are the latest.\n", len(runs))
	case len(runs) > 1:
		intro = fmt.Sprintf("%d tool calls are waiting.\n", len(runs))
	case !r.Session.Identified && r.Session.ID == "":
		intro = "Calls can't be listed for a client that Beam doesn't recognize. Use the handle from the result of the earlier call.\n"
	}
	text.WriteString(howToGoOn(b.starter.config.SignInHint, runs))
	result := &msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(strings.TrimSuffix(intro+text.String(), "\n"))}}
	result.Meta = map[string]any{metaWaitingRuns: runs}
	return result, nil
}

// howToGoOn tells a model how it goes on with the runs of a list; empty if there are none.
func howToGoOn(signInHint string, runs []waitingRun) string {
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
		return "\n" + howToAnswer(signInHint, asking...)
	case len(asking) == 0:
		return "\n" + howToWait(paused...)
	}
	return "\n" + howToAnswer(signInHint, asking...) + "\n\nThe calls without a question go on by themselves. " + howToWait(paused...)
}
