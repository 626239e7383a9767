package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/runlog"
)

// buildFinalReply returns the reply for a run that has ended.
func (f *follower) buildFinalReply(ctx context.Context, e runlog.Entry) reply {
	f.stopAsking()
	ended, err := runlog.Decode[runlog.Finished](e)
	if err != nil {
		return f.internalErrorReply(err)
	}
	if f.isResume {
		ended = explainInterruption(ended)
	}
	if missing := f.findMissingCapability(ended); missing != nil && f.client.IsModern() {
		return errorReply(f.requestID, missing.RPCError())
	}
	result, err := f.buildResult(ctx, ended)
	if err != nil {
		return f.internalErrorReply(err)
	}
	f.noteResultReturned(ctx)
	if ended.Status == runlog.Unanswered && f.session.usesApps(f.client) {
		result.IsError = false // hosts show no view of errors
	}
	return f.resultReply(result, f.cursor(e.Seq))
}

// findMissingCapability returns the missing capabilities that made the run fail, or
// nil.
func (c *call) findMissingCapability(end runlog.Finished) (missing *msg.MissingCapability) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.missingCapabilities {
		if l.HasEnded(&end) {
			missing = missing.Merge(l)
		}
	}
	return missing
}

// startErrorReply returns the reply for a run that could not be started.
func (c *call) startErrorReply(err error) reply {
	var invalid *generators.InvalidError
	var result *msg.ToolResult
	switch {
	case errors.As(err, &invalid):
		result = msg.InvalidArgumentsResult(c.photon.Name(), invalid)
	case errors.Is(err, engine.ErrTooManyRuns), errors.Is(err, engine.ErrClosing), errors.Is(err, budget.ErrExceeded):
		result = msg.ErrorResult("The tool was not started: " + err.Error() + ".")
	case errors.Is(err, runlog.ErrDiskFull):
		result = msg.ErrorResult("The tool was not started: " + runlog.ErrDiskFull.Error() + ".")
	case engine.IsTransient(err):
		result = msg.ErrorResult("The tool was not started: " + runlog.ErrUnavailable.Error() + ".")
	default:
		return c.internalErrorReply(err)
	}
	if c.isTask && !c.client.IsModern() || c.request != "" { // the only result of such a call is a task
		return errorReply(c.requestID, msg.Errorf(mcp.INVALID_PARAMS, "%s", *result.Content[0].Text))
	}
	return c.resultReply(result, "")
}

// resultReply returns a reply with the tool's result.
func (c *call) resultReply(result *msg.ToolResult, cursor string) reply {
	if c.request != "" {
		return c.requestReply(result, cursor)
	}
	base := c.server.newResultBase(c.client, "complete")
	if meta := result.Meta; meta != nil {
		maps.Copy(meta, base.Meta)
		base.Meta = meta
	}
	result.ResultBase = base
	if c.isTask && !c.client.IsModern() {
		result.Meta = tasks.RelatedMeta(c.runID)
	}
	large := result.TakeLarge()
	return reply{message: msg.EncodeResult(c.requestID, result), cursor: cursor, large: large}
}

// adoptedReply ends a call whose run another caller has adopted. The run goes on.
func (c *call) adoptedReply() reply {
	c.mu.Lock()
	c.handedOff = true
	c.mu.Unlock()
	c.withdrawRequests("its run was adopted by an operator")
	return c.resultReply(msg.ErrorResult("An operator has adopted this run. It goes on without this call. Don't call the tool again for the same purpose: that would start over."), "")
}

// panicReply returns the reply for a recovered panic.
func (c *call) panicReply(v any) reply {
	return c.internalErrorReply(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
}

// internalErrorReply logs err and returns a reply that does not disclose it. If another
// caller has adopted the run, the reply says so.
func (c *call) internalErrorReply(err error) reply {
	if errors.Is(err, engine.ErrForbidden) {
		return c.adoptedReply()
	}
	name := "" // the call may fail before its photon is known
	if c.photon != nil {
		name = c.photon.Name()
	}
	c.server.logger.Error("serving a call", "run", c.runID, "photon", name, "err", err)
	return errorReply(c.requestID, msg.Errorf(mcp.INTERNAL_ERROR, "Beam could not serve this call; its log says why"))
}
