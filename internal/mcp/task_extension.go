package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// An extensionTask is a Task of the extension: a task of 2025-11-25 with other names.
// Its fields must stay the same as those of [task], from which it is converted.
type extensionTask struct {
	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	TTL     *int64    `json:"ttlMs"`
	Poll    int64     `json:"pollIntervalMs,omitempty"`
}

// A detailedTask is a DetailedTask: a task with the members that belong to its status.
type detailedTask struct {
	extensionTask
	Requests map[string]inputRequest `json:"inputRequests,omitempty"`
	Result   *msg.ToolResult         `json:"result,omitempty"`
	Error    *msg.Error              `json:"error,omitempty"`
}

// taskCreatedReply returns the reply of a call that has become a task (SEP-2663, Task
// Creation).
func (c *call) taskCreatedReply() reply {
	info, err := c.server.engine.Info(c.client.caller, c.runID)
	if err != nil {
		return c.internalErrorReply(err)
	}
	return reply{message: msg.EncodeResult(c.requestID, struct {
		msg.ResultBase
		extensionTask
	}{c.server.newResultBase(c.client, "task"), extensionTask(newTask(info))})}
}

// serveExtensionTask serves a request about a task of 2026-07-28.
func (s *Server) serveExtensionTask(rc *requestContext, m msg.Incoming) reply {
	serve := map[string]func(*requestContext, engine.Info, taskParams) (any, *msg.Error){
		tasksGet: s.getExtensionTask, tasksUpdate: s.updateExtensionTask, tasksCancel: s.cancelExtensionTask,
	}[m.Method]
	if serve == nil {
		return errorReply(m.ID, unknownMethodError(m))
	}
	if !rc.client.supportsTasks() {
		return errorReply(m.ID, missingTasksError())
	}
	p, refused := parseTaskParams(m)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	info, refused := s.findTaskRun(rc.client.caller, p.ID)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	result, refused := serve(rc, info, p)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	return reply{message: msg.EncodeResult(m.ID, result)}
}

// getExtensionTask serves tasks/get.
func (s *Server) getExtensionTask(rc *requestContext, info engine.Info, _ taskParams) (any, *msg.Error) {
	d, err := s.newDetailedTask(rc, info)
	if err != nil {
		return nil, s.internalError("reading a task", info.ID, err)
	}
	return struct {
		msg.ResultBase
		detailedTask
	}{s.newResultBase(rc.client, "complete"), d}, nil
}

// newDetailedTask returns a run as a task for the request's client.
func (s *Server) newDetailedTask(rc *requestContext, info engine.Info) (detailedTask, error) {
	d := detailedTask{extensionTask: extensionTask(rc.newTaskFor(rc.client, info))}
	switch info.State {
	case engine.Waiting:
		return d, s.addInputRequests(rc, info, &d)
	case engine.Completed, engine.Failed:
		return d, s.addOutcome(rc, info, &d)
	case engine.Interrupted:
		d.Error = msg.Errorf(mcp.INTERNAL_ERROR, "%s", info.Error)
	}
	return d, nil
}

// addInputRequests adds the task's open questions. Those that its client can't be asked
// are left for the inbox: if there are no others, the client sees a working task.
func (s *Server) addInputRequests(rc *requestContext, info engine.Info, d *detailedTask) error {
	c := s.newTaskCall(rc, info)
	d.Requests = map[string]inputRequest{}
	for _, open := range info.Asks {
		b, missing, err := c.buildClientRequest(open.Question, open.ID)
		switch {
		case err != nil:
			return err
		case missing == nil:
			d.Requests[open.Key] = inputRequest{b.Method, b.Params}
		case !isAnswerableElsewhere(open.Question) && !s.askPolicy.Link:
			if err := c.withdrawUnsupported(context.Background(), open.ID, missing, nil); err != nil {
				return err
			}
		}
	}
	if len(d.Requests) == 0 {
		d.Status = taskWorking
	}
	return nil
}

// addOutcome adds the result or error that the call itself would have had.
func (s *Server) addOutcome(rc *requestContext, info engine.Info, d *detailedTask) error {
	f := s.newTaskCall(rc, info).newFollower(rc.sender, rc.inFlight)
	ctx := context.Background() // reading does not block
	batches, err := s.engine.Read(ctx, rc.client.caller, info.ID, 0)
	if err != nil {
		return err
	}
	var end runlog.Finished
	for batch, err := range batches {
		for _, e := range batch {
			if err == nil && e.Kind == "artifact" {
				err = f.skipEvent(e)
			}
			if err == nil && e.Kind == runlog.KindFinished {
				end, err = runlog.Decode[runlog.Finished](e)
			}
		}
		if err != nil {
			return err
		}
	}
	if l := missingCapabilityIn(end); l != nil {
		d.Status, d.Error = taskFailed, l.RPCError()
		return nil
	}
	// The request succeeded; the result says whether the tool failed.
	d.Status, d.Message = taskCompleted, ""
	d.Result, err = f.buildResult(ctx, end)
	if err == nil {
		d.Result.ResultBase = msg.ResultBase{Type: "complete"}
	}
	return err
}

// missingCapabilityIn returns the missing capability that made a run fail, or nil. It
// recognizes the error's text, which is all that the run's log keeps.
func missingCapabilityIn(end runlog.Finished) *msg.MissingCapability {
	if end.Status != runlog.Failed {
		return nil
	}
	if l := msg.MissingRoots; strings.Contains(end.Error, l.Error()) {
		return l
	}
	return nil
}

// newTaskCall returns a call that represents a task.
func (s *Server) newTaskCall(rc *requestContext, info engine.Info) *call {
	photon, ok := s.photons.Lookup(info.Photon)
	if !ok {
		photon = msg.PlaceholderPhoton(info.Photon)
	}
	return &call{server: s, session: rc.session, client: rc.client, photon: photon, runID: info.ID, isTask: true}
}

// updateExtensionTask serves tasks/update. It records all answers or, if one of them is
// not valid, none. It ignores answers to questions that are not open (SEP-2663, Task
// Update Requests).
func (s *Server) updateExtensionTask(rc *requestContext, info engine.Info, p taskParams) (any, *msg.Error) {
	if p.Responses == nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "inputResponses must be an object with answers by the keys of inputRequests")
	}
	answers, invalid := s.newTaskCall(rc, info).parseTaskAnswers(info.Asks, p.Responses)
	if len(invalid) > 0 {
		return nil, invalidResponsesError(invalid)
	}
	for id, a := range answers {
		err := s.engine.Answer(context.Background(), rc.client.caller, id, a, surfaceMCP)
		if err != nil && !errors.Is(err, engine.ErrSettled) && !errors.Is(err, engine.ErrAskNotFound) {
			return nil, s.internalError("recording an answer", info.ID, err)
		}
	}
	return s.newResultBase(rc.client, "complete"), nil
}

// parseTaskAnswers decodes and validates the responses to open questions. It returns the
// answers by the id of their question, and the errors by its key. It skips the user's
// consent to open Beam's page, and questions that the client can't be asked.
func (c *call) parseTaskAnswers(asks []engine.OpenAsk, responses map[string]json.RawMessage) (map[string]ask.Answer, map[string]*generators.InvalidError) {
	answers, invalid := map[string]ask.Answer{}, map[string]*generators.InvalidError{}
	for _, open := range asks {
		response, given := responses[open.Key]
		_, missing, err := c.buildClientRequest(open.Question, open.ID)
		if !given || missing != nil || err != nil {
			continue
		}
		a, consented, err := c.parseClientAnswer(open.Question, response)
		if consented {
			continue
		}
		if err == nil {
			a, err = open.Question.Check(a)
		}
		var notValid *generators.InvalidError
		if errors.As(err, &notValid) {
			invalid[open.Key] = notValid
		}
		answers[open.ID] = a
	}
	return answers, invalid
}

// invalidResponsesError returns the error for answers that are not valid.
func invalidResponsesError(invalid map[string]*generators.InvalidError) *msg.Error {
	var texts []string
	for key, wrong := range invalid {
		texts = append(texts, "inputResponses["+key+"]: "+wrong.Error())
	}
	slices.Sort(texts)
	e := msg.Errorf(mcp.INVALID_PARAMS, "no answer was recorded, because some are not valid: %s", strings.Join(texts, "; "))
	e.Data = invalid
	return e
}

// cancelExtensionTask serves tasks/cancel. It is not an error if the task has ended.
func (s *Server) cancelExtensionTask(rc *requestContext, info engine.Info, _ taskParams) (any, *msg.Error) {
	if err := s.engine.Cancel(context.Background(), rc.client.caller, info.ID); err != nil && !errors.Is(err, engine.ErrRunNotFound) {
		return nil, s.internalError("cancelling a task", info.ID, err)
	}
	return s.newResultBase(rc.client, "complete"), nil
}
