package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// ResumeTool is the name of the tool that takes up again a run whose call was
// handed off. No photon is offered under it as long as calls are.
const ResumeTool = "beam_resume"

var resumeInputSchema = json.RawMessage(`{"type":"object","properties":{"run":{"type":"string",` +
	`"description":"The handle that the result of the earlier call gave."}},"required":["run"],"additionalProperties":false}`)

// newResumeTool is the tool as it is listed.
func newResumeTool() server.ServerTool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(ResumeTool, "Goes on with a tool that ended before it was done because it waits for an answer by the user: "+
		"waits for the answer, and returns the tool's result, or says what it asks next. "+
		"Call it once the user has the address to answer at, as often as need be; nothing is lost or done twice.", resumeInputSchema)
	t.Title = "Go on with a tool that waits"
	t.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no,
	}
	return server.ServerTool{Tool: t, Handler: refuseLibraryCall}
}

// isResumeTool tells whether a name is that of [ResumeTool].
func (s *Server) isResumeTool(name string) bool {
	return name == ResumeTool && s.askPolicy.allowsHandoff()
}

// unknownHandleText is what is said of every handle that opens nothing, whether there is
// such a run or not.
const unknownHandleText = "This handle opens no run: it is not one that an earlier call gave you, or the run is not kept any more " +
	"(one that was not durable ended with the Beam that it ran in). Call the tool itself again."

// openResumedRun finds the run that [ResumeTool] was called for. If there is none for
// this caller, the reply says so.
func (c *call) openResumedRun(args json.RawMessage) *reply {
	said := func(text string) *reply {
		r := c.resultReply(errorResult(text), "")
		return &r
	}
	var handle struct {
		Run string `json:"run"`
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if d.Decode(&handle) != nil || handle.Run == "" {
		return said("The arguments for " + ResumeTool + ` are not valid: it takes {"run": HANDLE}, with the handle that the result of the earlier call gave.`)
	}
	eng, caller := c.server.engine, c.client.caller
	err := eng.ClearIdleTimeout(caller, handle.Run)
	info, infoErr := eng.Info(caller, handle.Run)
	switch err = errors.Join(err, infoErr); {
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden):
		return said(unknownHandleText)
	case engine.IsTransient(err):
		return said("The run can't be read at the moment. Nothing of it is lost: call " + ResumeTool + " again in a while.")
	case err != nil:
		r := c.internalErrorReply(err)
		return &r
	}
	photon, ok := c.server.photons.Lookup(info.Photon)
	switch {
	case ok:
	case info.State.Ended(): // its result is here
		photon = msg.PlaceholderPhoton(info.Photon)
	default:
		return said("The tool " + info.Photon + " of this run is not here now. The run waits for it.")
	}
	c.photon, c.runID, c.followAfter, c.isResume = photon, info.ID, info.LastSeq, true
	c.keepRunResult() // anew, if Beam was restarted
	c.session.forgetSettledRequests(info)
	c.number = c.server.lastCallNumber.Add(1)
	return nil
}

// forgetSettledRequests forgets the questions of earlier calls of a run that are settled,
// where nobody is left to be told so: their streams broke off.
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
			over := !open[p.askSeq] && p.askSeq <= info.LastSeq
			if over {
				settled = append(settled, p.requestID())
			}
			return over
		})
		c.mu.Unlock()
		for _, id := range settled {
			s.forgetRequest(id)
		}
	}
}

// disconnectedCalls are the calls of a run that can be resumed and are not under way.
func (s *session) disconnectedCalls(id string) (calls []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.resumableCalls {
		if c.runID == id && s.inFlightRequests[string(c.requestID)] == nil {
			calls = append(calls, c)
		}
	}
	return calls
}

// rejoinRun takes in what the run has done so far, which is told nobody again, and
// asks what is open. It returns the call's reply if the run has ended.
func (f *follower) rejoinRun(ctx context.Context) (r reply, over bool) {
	open, r, over := f.readHistory(ctx)
	if over {
		return r, true
	}
	f.sender.setResumeCursor(f.cursor(f.lastSent))
	for _, seq := range open {
		if err := f.sendQuestion(ctx, seq); err != nil {
			return f.failureReply(err), true
		}
	}
	return reply{}, false
}

// readHistory reads what is in the run's log: the ordinals of the questions that are
// open at its end, or the reply of a run that has ended.
func (f *follower) readHistory(ctx context.Context) (open []uint64, r reply, over bool) {
	batches, err := f.server.engine.Read(ctx, f.client.caller, f.runID)
	if err != nil {
		return nil, f.internalErrorReply(err), true
	}
	asked := map[uint64]bool{}
	for batch, err := range batches {
		if err != nil {
			return nil, f.internalErrorReply(err), true
		}
		for _, e := range batch {
			f.lastSent = e.Seq
			switch e.Kind {
			case runlog.KindFinished:
				return nil, f.buildFinalReply(ctx, e), true
			case runlog.KindAsked:
				asked[e.Seq] = true
			case runlog.KindAnswered, runlog.KindWithdrawn:
				s, err := runlog.Decode[settlement](e)
				if err != nil {
					return nil, f.internalErrorReply(err), true
				}
				delete(asked, s.AskSeq)
			default:
				if err := f.skipEvent(e); err != nil {
					return nil, f.internalErrorReply(err), true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(asked)), reply{}, false
}

// failureReply is the reply of a call that can't go on: none to a client that is
// gone, which may come back and resume.
func (f *follower) failureReply(err error) reply {
	if errors.Is(err, errClientGone) {
		return f.handleRequestEnd(errClientGone)
	}
	return f.internalErrorReply(err)
}

// explainInterruption says of a run that was, to whoever wanted to go on with it, what
// can be done.
func explainInterruption(end runlog.Finished) runlog.Finished {
	if end.Status == runlog.Interrupted {
		end.Error = "This run was interrupted and can't be gone on with: " + end.Error + ". Its questions are withdrawn. Call the tool itself again."
	}
	return end
}

// guaranteedOutputSchema is the schema of the structured content that a photon's results
// always have for a client; nil if none was promised. A client that can't be
// asked is promised none: its calls may end before their runs do, and such a
// result has none.
func (s *Server) guaranteedOutputSchema(p *generators.Photon, c *client) json.RawMessage {
	if s.askPolicy.allowsHandoff() && !c.SupportsForms() && !c.SupportsURLs() {
		return nil
	}
	return writePropertiesAsObjects(msg.OutputSchema(p, &c.Client))
}
