package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// ResumeTool is the name of the tool that resumes a run whose call was handed off.
// While calls may be handed off, no photon is offered under this name.
const ResumeTool = "beam_resume"

var resumeInputSchema = json.RawMessage(`{"type":"object","properties":{"run":{"type":"string",` +
	`"description":"The handle from the result of the earlier call."}},"required":["run"],"additionalProperties":false}`)

// newResumeTool returns the tool's description.
func newResumeTool() server.ServerTool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(ResumeTool, "Resumes a tool call that ended early because it is waiting for an answer from the user. "+
		"Waits for the answer, then returns the tool's result or the next question. "+
		"Call it after you have given the user the address to answer at, as often as needed: nothing is lost or done twice.", resumeInputSchema)
	t.Title = "Resume a waiting tool call"
	t.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no,
	}
	return server.ServerTool{Tool: t, Handler: refuseLibraryCall}
}

// isResumeTool reports whether name is [ResumeTool] and calls may be handed off.
func (s *Server) isResumeTool(name string) bool {
	return name == ResumeTool && s.askPolicy.allowsHandoff()
}

// unknownHandleText is the result for a handle without a run. It is the same whether or
// not such a run exists.
const unknownHandleText = "No run has this handle. Either no earlier call returned it, or the run is no longer kept " +
	"(a run that is not durable ends with its Beam process). Call the tool itself again."

// openResumedRun prepares the call for the run that [ResumeTool] was called with. It
// returns the reply if the caller has no such run.
func (c *call) openResumedRun(args json.RawMessage) *reply {
	refuse := func(text string) *reply {
		r := c.resultReply(msg.ErrorResult(text), "")
		return &r
	}
	var handle struct {
		Run string `json:"run"`
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if d.Decode(&handle) != nil || handle.Run == "" {
		return refuse("The arguments for " + ResumeTool + ` are not valid: it takes {"run": HANDLE}, with the handle from the result of the earlier call.`)
	}
	runs, caller := c.server.engine, c.client.caller
	info, err := runs.Info(caller, handle.Run)
	if err == nil && info.Owner != caller.ID { // an operator's client doesn't act on the runs of others
		err = engine.ErrForbidden
	}
	if err == nil {
		err = runs.ClearIdleTimeout(caller, handle.Run)
	}
	switch {
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden):
		return refuse(unknownHandleText)
	case engine.IsTransient(err):
		return refuse("The run can't be read at the moment. Nothing is lost: call " + ResumeTool + " again later.")
	case err != nil:
		r := c.internalErrorReply(err)
		return &r
	}
	photon, ok := c.server.photons.Lookup(info.Photon)
	switch {
	case ok:
	case info.State.Ended(): // the log has its result
		photon = msg.PlaceholderPhoton(info.Photon)
	default:
		return refuse("The tool " + info.Photon + " of this run is not available now. The run is waiting for it.")
	}
	c.photon, c.runID, c.followAfter, c.isResume = photon, info.ID, info.LastSeq, true
	c.keepRunResult() // a restart of Beam forgets it
	c.session.forgetSettledRequests(info)
	c.number = c.server.lastCallNumber.Add(1)
	return nil
}

// forgetSettledRequests removes the settled questions of a run's earlier calls whose
// streams broke off, since no follower is left to remove them.
func (s *session) forgetSettledRequests(info engine.Info) {
	open := map[uint64]bool{}
	for _, a := range info.Asks {
		_, seq, _ := runlog.SplitAskID(a.ID)
		open[seq] = true
	}
	for _, c := range s.disconnectedCalls(info.ID) {
		c.mu.Lock()
		var settled []string
		c.pending = slices.DeleteFunc(c.pending, func(p *pendingRequest) bool {
			done := !open[p.askSeq] && p.askSeq <= info.LastSeq
			if done {
				settled = append(settled, p.requestID())
			}
			return done
		})
		c.mu.Unlock()
		for _, id := range settled {
			s.requests.Forget(id)
		}
	}
}

// explainInterruption adds to the error of an interrupted run what the client can do.
func explainInterruption(end runlog.Finished) runlog.Finished {
	if end.Status == runlog.Interrupted {
		end.Error = "This run was interrupted and can't be resumed: " + end.Error + ". Its questions are withdrawn. Call the tool itself again."
	}
	return end
}
