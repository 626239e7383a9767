package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// leaveQuestionOpen leaves a question that the client can't be asked open, and tells it
// where somebody may answer. Without links it is withdrawn.
func (f *follower) leaveQuestionOpen(ctx context.Context, open engine.OpenAsk, seq uint64, missing *missingCapability) error {
	if !f.server.askPolicy.Link {
		return f.withdrawUnsupported(ctx, open.ID, missing, nil)
	}
	if _, err := f.askPageURL(open.ID); err != nil {
		return f.withdrawUnsupported(ctx, open.ID, missing, err)
	}
	f.mu.Lock()
	if f.linked == nil {
		f.linked = map[uint64]struct{}{}
	}
	f.linked[seq] = struct{}{}
	f.mu.Unlock()
	return f.sendAskLink(open.ID, open.Question.Message)
}

// forgetLink forgets a question that is settled.
func (c *call) forgetLink(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.linked, seq)
}

// restartWaitClock begins the wait anew: a client that answers, with whatever, is not
// silent.
func (c *call) restartWaitClock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waitClock.restart(time.Now())
	c.linksSent = false
}

// handOffCall ends a call whose questions nobody has answered for long: its result
// says where to do so, and how to take the run up again. The run and its
// questions stay as they are. It is not over if there is nothing to wait for
// any more, or no page to answer at.
func (f *follower) handOffCall() (r reply, over bool) {
	info, err := f.server.engine.Info(f.client.caller, f.runID)
	if err != nil || len(info.Asks) == 0 {
		return reply{}, false // which the log says next
	}
	result, err := f.waitingResult(info)
	if err != nil {
		f.server.logger.Error("handing a call off", "run", f.runID, "err", err)
		f.restartWaitClock()
		return reply{}, false
	}
	f.keepRunResult()
	f.mu.Lock()
	f.handedOff = true
	f.mu.Unlock()
	f.withdrawRequests("nobody answered for long; it is open on Beam's page")
	return f.resultReply(result, ""), true
}

// keepRunResult keeps the run's result for whoever has its handle.
func (c *call) keepRunResult() {
	if err := c.server.engine.RetainAfterEnd(c.client.caller, c.runID, engine.MaxRetention); err != nil {
		c.server.logger.Error("promising to keep a run", "run", c.runID, "err", err)
	}
}

// repeatHandoff takes a call up whose client comes back for the rest of its stream. If
// it was handed off, that may not have arrived, and is its reply once more.
func (f *follower) repeatHandoff() (r reply, over bool) {
	f.mu.Lock()
	handed := f.handedOff
	if handed {
		f.askingStopped = false
	}
	f.mu.Unlock()
	if !handed {
		return reply{}, false
	}
	return f.handOffCall()
}

// withdrawRequests sees to it that nothing more is asked, and takes back what is.
func (c *call) withdrawRequests(why string) {
	c.mu.Lock()
	c.askingStopped = true
	open, out := slices.Clone(c.pending), c.sender
	c.mu.Unlock()
	for _, p := range open {
		_ = c.settleRequest(out, settlement{AskSeq: p.askSeq}, why) // a client that is gone need not know
	}
	c.sendMu.Lock() // until nothing is being sent
	defer c.sendMu.Unlock()
}

// metaWaitingRun is the member of a result's _meta that says for programs what
// the text says.
const metaWaitingRun = "io.github.photon-beam/waiting"

type (
	// waitingRun is what a call that was handed off waits for.
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

// waitingResult is the result of a call that was handed off. To a client that was
// promised structured content for every success it is an error.
func (c *call) waitingResult(info engine.Info) (*toolResult, error) {
	waits := waitingRun{Run: c.runID}
	var said strings.Builder
	fmt.Fprintf(&said, "%s has not ended: it waits for an answer by the user.\n", c.photon.Title())
	for _, a := range info.Asks {
		address, err := c.askPageURL(a.ID)
		if err != nil {
			return nil, err
		}
		waits.Asks = append(waits.Asks, waitingAsk{a.ID, a.Question.Message, address})
		fmt.Fprintf(&said, "\nIt asks: %s\nAnswer at: %s\n", a.Question.Message, address)
	}
	fmt.Fprintf(&said, "\nGive the user the address. Then call the tool %s with {\"run\": %q}: it waits for the answer and returns the result, or the next question. "+
		"Do not call %s again for this: that would begin anew.", ResumeTool, c.runID, c.photon.Name())
	result := &toolResult{Content: []msg.ContentBlock{msg.TextBlock(said.String())}}
	result.Meta = map[string]any{metaWaitingRun: waits}
	result.IsError = !c.isResume && c.server.guaranteedOutputSchema(c.photon, c.client) != nil
	return result, nil
}

// askRequestID is the id of the request that puts a question: no id is used twice in a
// session.
func (c *call) askRequestID(seq uint64) string { return runlog.AskID(c.runID, seq) + c.numberSuffix() }
