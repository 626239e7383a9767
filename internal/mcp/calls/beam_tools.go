package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
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

// ResumeDefinition returns the description of [ResumeTool].
func ResumeDefinition() mcp.Tool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(ResumeTool, "Resumes a tool call that ended early because it is waiting for an answer from the user. "+
		"Waits for the answer, then returns the tool's result or the next question. "+
		"Call it when the user says that they have answered, and not again before they do. Nothing is lost or done twice. "+
		"Without a handle it lists the tool calls that are waiting.", resumeInputSchema)
	t.Title = "Resume a waiting tool call"
	t.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no,
	}
	return t
}

// CancelDefinition returns the description of [CancelTool].
func CancelDefinition() mcp.Tool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(CancelTool, "Cancels a tool call that ended early because it is waiting for an answer from the user. "+
		"Its questions are withdrawn, and it does nothing more. Call it only if the user no longer wants the result.", cancelInputSchema)
	t.Title = "Cancel a waiting tool call"
	t.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &no, DestructiveHint: &yes, IdempotentHint: &yes, OpenWorldHint: &no,
	}
	return t
}

// unknownHandleText is the result for a handle without a run. It is the same whether or
// not such a run exists.
const unknownHandleText = "No run has this handle. Either no earlier call returned it, or the run is no longer kept " +
	"(a run that is not durable ends with its Beam process). Call the tool itself again."

// beamTools serves the calls of Beam's own tools, but for those of the view.
type beamTools struct{ starter *starter }

// serve serves a call of one of Beam's own tools.
func (b *beamTools) serve(r *session.Request, answer func(requests.Reply)) {
	name := r.Params.Name
	handle, valid := parseHandle(r.Params.Arguments)
	switch {
	case !valid || handle == "" && name == CancelTool:
		answer(b.errorResult(r, "The arguments for "+name+` are not valid: it takes {"run": HANDLE}, with the handle from the result of the earlier call.`))
		return
	case handle == "":
		answer(b.listWaitingRuns(r))
		return
	}
	info, err := b.starter.config.Engine.Info(r.Client.Caller, handle)
	if err == nil && info.Owner != r.Client.Caller.ID { // an operator's client doesn't act on the runs of others
		err = engine.ErrForbidden
	}
	switch {
	case err != nil:
		answer(b.handleFailure(r, err))
	case name == CancelTool:
		b.cancelWaitingRun(r, info, answer)
	default:
		b.resume(r, info, answer)
	}
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

// errorResult returns a reply that describes to the model what went wrong.
func (b *beamTools) errorResult(r *session.Request, text string) requests.Reply {
	return b.starter.replies(r, toolResult).result(msg.ErrorResult(text), "")
}

// handleFailure returns the reply for a handle whose run can't be used.
func (b *beamTools) handleFailure(r *session.Request, err error) requests.Reply {
	switch {
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden):
		return b.errorResult(r, unknownHandleText)
	case engine.IsTransient(err):
		return b.errorResult(r, "The run can't be read at the moment. Nothing is lost: call "+r.Params.Name+" again later.")
	}
	b.starter.config.Logger.Error("serving a call", "tool", r.Params.Name, "err", err)
	return r.Error(errFailed)
}

// cancelWaitingRun cancels the run that [CancelTool] was called with.
func (b *beamTools) cancelWaitingRun(r *session.Request, info engine.Info, answer func(requests.Reply)) {
	if info.State.Ended() {
		answer(b.errorResult(r, fmt.Sprintf("This call of %s has already ended. %s returns its result.", info.Photon, ResumeTool)))
		return
	}
	run := b.starter.newRun(r, b.starter.photonOf(info), info.ID)
	err := run.engine.Cancel(context.Background(), r.Client.Caller, info.ID, msg.Surface)
	run.recordReceived(r.Message.Raw)
	answer = run.recordReplies(answer)
	if err != nil {
		answer(b.handleFailure(r, err))
		return
	}
	text := "The call of " + info.Photon + " is canceled. Its questions are withdrawn, and it does nothing more."
	answer(b.starter.replies(r, toolResult).result(&msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(text)}}, ""))
}
