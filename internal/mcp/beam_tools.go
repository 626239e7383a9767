package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// The names of the tools for runs whose calls were handed off. While calls may be handed
// off, no photon is offered under these names.
const (
	ResumeTool = "beam_resume" // resumes a run, or lists those that wait
	CancelTool = "beam_cancel" // cancels a run
)

var (
	resumeInputSchema = json.RawMessage(`{"type":"object","properties":{"run":{"type":"string",` +
		`"description":"The handle from the result of the earlier call. Leave it out to list the calls that are waiting."}},"additionalProperties":false}`)
	cancelInputSchema = json.RawMessage(`{"type":"object","properties":{"run":{"type":"string",` +
		`"description":"The handle from the result of the earlier call."}},"required":["run"],"additionalProperties":false}`)
)

// newResumeTool returns the description of [ResumeTool].
func newResumeTool() server.ServerTool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(ResumeTool, "Resumes a tool call that ended early because it is waiting for an answer from the user. "+
		"Waits for the answer, then returns the tool's result or the next question. "+
		"Call it when the user says that they have answered, and not again before they do. Nothing is lost or done twice. "+
		"Without a handle it lists the tool calls that are waiting.", resumeInputSchema)
	t.Title = "Resume a waiting tool call"
	t.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no,
	}
	return server.ServerTool{Tool: t, Handler: refuseLibraryCall}
}

// newCancelTool returns the description of [CancelTool].
func newCancelTool() server.ServerTool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(CancelTool, "Cancels a tool call that ended early because it is waiting for an answer from the user. "+
		"Its questions are withdrawn, and it does nothing more. Call it only if the user no longer wants the result.", cancelInputSchema)
	t.Title = "Cancel a waiting tool call"
	t.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &no, DestructiveHint: &yes, IdempotentHint: &yes, OpenWorldHint: &no,
	}
	return server.ServerTool{Tool: t, Handler: refuseLibraryCall}
}

// isBeamTool reports whether name is that of a tool for runs whose calls were handed off,
// and calls may be; or that of a tool of the view, and there is one.
func (s *Server) isBeamTool(name string) bool {
	return (name == ResumeTool || name == CancelTool) && s.askPolicy.allowsHandoff() || apps.IsTool(name) && s.servesApps()
}

// unknownHandleText is the result for a handle without a run. It is the same whether or
// not such a run exists.
const unknownHandleText = "No run has this handle. Either no earlier call returned it, or the run is no longer kept " +
	"(a run that is not durable ends with its Beam process). Call the tool itself again."

// serveBeamTool serves a call of one of Beam's own tools, as far as that needs no waiting.
// It returns no reply if the call then follows a run.
func (c *call) serveBeamTool(p *requestParams) *reply {
	run, valid := parseHandle(p.Arguments)
	switch {
	case !valid || run == "" && p.Name == CancelTool:
		return c.errorResultReply("The arguments for " + p.Name + ` are not valid: it takes {"run": HANDLE}, with the handle from the result of the earlier call.`)
	case run == "":
		return c.listWaitingRuns()
	}
	info, err := c.server.engine.Info(c.client.caller, run)
	if err == nil && info.Owner != c.client.caller.ID { // an operator's client doesn't act on the runs of others
		err = engine.ErrForbidden
	}
	switch {
	case err != nil:
		return c.handleErrorReply(p.Name, err)
	case p.Name == CancelTool:
		return c.cancelWaitingRun(info)
	}
	return c.openResumedRun(info)
}

// parseHandle returns the run in the arguments of one of Beam's tools, or "" if they name
// none.
func parseHandle(args json.RawMessage) (run string, valid bool) {
	if len(args) == 0 || bytes.Equal(args, msg.Null) {
		return "", true
	}
	var handle struct {
		Run string `json:"run"`
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	return handle.Run, d.Decode(&handle) == nil
}

// errorResultReply returns a reply that describes to the model what went wrong.
func (c *call) errorResultReply(text string) *reply {
	r := c.resultReply(msg.ErrorResult(text), "")
	return &r
}

// handleErrorReply returns the reply for a handle whose run can't be used.
func (c *call) handleErrorReply(tool string, err error) *reply {
	switch {
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden):
		return c.errorResultReply(unknownHandleText)
	case engine.IsTransient(err):
		return c.errorResultReply("The run can't be read at the moment. Nothing is lost: call " + tool + " again later.")
	}
	r := c.internalErrorReply(err)
	return &r
}

// cancelWaitingRun cancels the run that [CancelTool] was called with.
func (c *call) cancelWaitingRun(info engine.Info) *reply {
	if info.State.Ended() {
		return c.errorResultReply(fmt.Sprintf("This call of %s has already ended. %s returns its result.", info.Photon, ResumeTool))
	}
	c.runID = info.ID
	if err := c.server.engine.Cancel(context.Background(), c.client.caller, info.ID, msg.Surface); err != nil {
		return c.handleErrorReply(CancelTool, err)
	}
	r := c.resultReply(&msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(
		"The call of " + info.Photon + " is canceled. Its questions are withdrawn, and it does nothing more.")}}, "")
	return &r
}
