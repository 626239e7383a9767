package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// handOffCall ends a call whose questions have been open for too long. Its result holds
// their addresses and a handle to resume the run. The run and its questions stay as
// they are. The call goes on if no question is open any more, or if there is no page.
func (f *follower) handOffCall() (r reply, done bool) {
	info, err := f.server.engine.Info(f.client.caller, f.runID)
	if err != nil || len(info.Asks) == 0 {
		return reply{}, false // the log's next entry says so
	}
	result, err := f.waitingResult(info)
	if err != nil {
		f.server.logger.Error("handing off a call", "run", f.runID, "err", err)
		f.restartWaitClock()
		return reply{}, false
	}
	f.keepRunResult()
	f.mu.Lock()
	f.handedOff = true
	f.mu.Unlock()
	f.withdrawRequests("it was not answered in time; it is open on Beam's page")
	return f.resultReply(result, ""), true
}

// keepRunResult keeps the run's result for the client that has the handle.
func (c *call) keepRunResult() {
	if err := c.server.engine.RetainAfterEnd(c.client.caller, c.runID, engine.MaxRetention); err != nil {
		c.server.logger.Error("retaining a run", "run", c.runID, "err", err)
	}
}

// repeatHandoff repeats the handoff for a client that resumes the call's stream, since
// the first result may not have arrived.
func (f *follower) repeatHandoff() (r reply, done bool) {
	f.mu.Lock()
	handedOff := f.handedOff
	if handedOff {
		f.askingStopped = false
	}
	f.mu.Unlock()
	if !handedOff {
		return reply{}, false
	}
	return f.handOffCall()
}

// withdrawRequests prevents further questions, and withdraws the open ones.
func (c *call) withdrawRequests(reason string) {
	c.mu.Lock()
	c.askingStopped = true
	open, out := slices.Clone(c.pending), c.sender
	c.mu.Unlock()
	for _, p := range open {
		_ = c.settleRequest(out, msg.Settlement{AskSeq: p.askSeq}, reason) // the client may be gone
	}
	c.sendMu.Lock() // wait until nothing is being sent
	defer c.sendMu.Unlock()
}

// metaWaitingRun is the member of a result's _meta that repeats its text for programs.
const metaWaitingRun = "io.github.photon-beam/waiting"

type (
	// A waitingRun lists the questions of a call that was handed off.
	waitingRun struct {
		Run  string       `json:"run"`
		Asks []waitingAsk `json:"asks"`
	}
	waitingAsk struct {
		ID      string `json:"id"`
		Message string `json:"message"`
		URL     string `json:"url"`
	}
)

// waitingResult returns the result of a call that was handed off. It is an error for a
// client that was promised structured content for every success.
func (c *call) waitingResult(info engine.Info) (*msg.ToolResult, error) {
	waits := waitingRun{Run: c.runID}
	var text strings.Builder
	fmt.Fprintf(&text, "%s is waiting for an answer from the user.\n", c.photon.Title())
	for _, a := range info.Asks {
		address, err := c.askPageURL(a.ID)
		if err != nil {
			return nil, err
		}
		waits.Asks = append(waits.Asks, waitingAsk{a.ID, a.Question.Message, address})
		fmt.Fprintf(&text, "\nQuestion: %s\n", a.Question.Message)
		if shown := msg.EvidenceTitles(a.Question); shown != "" {
			fmt.Fprintf(&text, "The page also shows what it is about: %s\n", shown)
		}
		fmt.Fprintf(&text, "Answer at: %s\n", address)
	}
	fmt.Fprintf(&text, "\nGive the user the address. Then call the tool %s with {\"run\": %q}. It waits for the answer and returns the result or the next question. "+
		"Do not call %s again for this: that would start over.", ResumeTool, c.runID, c.photon.Name())
	result := &msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(text.String())}}
	result.Meta = map[string]any{metaWaitingRun: waits}
	result.IsError = !c.isResume && c.server.guaranteedOutputSchema(c.photon, c.client) != nil
	return result, nil
}
