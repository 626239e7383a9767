package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
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
	Requests map[string]msg.InputRequest `json:"inputRequests,omitempty"`
	Result   *msg.ToolResult             `json:"result,omitempty"`
	Error    *msg.Error                  `json:"error,omitempty"`
}

// TakeLarge is [msg.ToolResult.TakeLarge] of the task's result.
func (d detailedTask) TakeLarge() *msg.LargeResult { return d.Result.TakeLarge() }

// serveExtension serves a request about a task of 2026-07-28.
func (s *Service) serveExtension(r Requester, m msg.Incoming) (any, *msg.Error) {
	serve := map[string]func(Requester, engine.Info, params) (any, *msg.Error){
		MethodGet: s.getExtensionTask, methodUpdate: s.updateExtensionTask, methodCancel: s.cancelExtensionTask,
	}[m.Method]
	if serve == nil {
		return nil, unknownMethodError(m)
	}
	if !supportsExtension(r.Client) {
		return nil, missingExtensionError()
	}
	p, refused := parseParams(m)
	if refused != nil {
		return nil, refused
	}
	info, refused := s.findRun(r.Caller, p.ID, extensionSurfaces...)
	if refused != nil {
		return nil, refused
	}
	return serve(r, info, p)
}

// getExtensionTask serves tasks/get.
func (s *Service) getExtensionTask(r Requester, info engine.Info, _ params) (any, *msg.Error) {
	d, err := s.newDetailedTask(r, info)
	if err != nil {
		return nil, s.internalError("reading a task", info.ID, err)
	}
	return struct {
		msg.ResultBase
		detailedTask
	}{s.newResultBase(r, "complete"), d}, nil
}

// cancelExtensionTask serves tasks/cancel. It is not an error if the task has ended.
func (s *Service) cancelExtensionTask(r Requester, info engine.Info, _ params) (any, *msg.Error) {
	if refused := s.cancelRun(r.Caller, info.ID); refused != nil {
		return nil, refused
	}
	return s.newResultBase(r, "complete"), nil
}

// newDetailedTask returns a run as a task for the requester.
func (s *Service) newDetailedTask(r Requester, info engine.Info) (detailedTask, error) {
	d := detailedTask{extensionTask: s.newExtensionTask(r, info)}
	switch {
	case info.State == engine.Waiting:
		return d, s.addInputRequests(r, info, &d)
	case !info.State.Ended(), isCancelled(info):
		return d, nil
	case outcomeOf(info).ExtensionStatus == statusCompleted:
		return d, s.addOutcome(r, info, &d)
	}
	d.Error = msg.Errorf(mcp.INTERNAL_ERROR, "%s", info.Error)
	return d, nil
}

// newExtensionTask returns a run as a task for the requester. If the client can be asked
// none of the open questions, they are left for the inbox, and the task is working.
func (s *Service) newExtensionTask(r Requester, info engine.Info) extensionTask {
	t := s.newTaskFor(r, info)
	translator := s.translator(r, info)
	if t.Status == statusInputRequired && !slices.ContainsFunc(info.Asks, func(open engine.OpenAsk) bool {
		_, missing, err := translator.AskRequest(&open.Asked, open.ID)
		return err == nil && missing == nil && !open.Excluded
	}) {
		t.Status = statusWorking
	}
	return extensionTask(t)
}

// addInputRequests adds the task's open questions, but for those that its client can't be
// asked.
func (s *Service) addInputRequests(r Requester, info engine.Info, d *detailedTask) error {
	translator := s.translator(r, info)
	d.Requests = map[string]msg.InputRequest{}
	for _, open := range info.Asks {
		if open.Excluded {
			continue
		}
		request, missing, err := translator.AskRequest(&open.Asked, open.ID)
		switch {
		case err != nil:
			return err
		case missing == nil:
			d.Requests[open.Key] = request.Input()
		case !IsAnswerableElsewhere(open.Question) && !s.Link:
			err := s.Engine.Withdraw(context.Background(), r.Caller, open.ID, runlog.Unsupported, missing.Error())
			if err != nil && !errors.Is(err, engine.ErrSettled) {
				return err
			}
		}
	}
	return nil
}

// addOutcome adds the result or error that the call itself would have had.
func (s *Service) addOutcome(r Requester, info engine.Info, d *detailedTask) error {
	ctx := context.Background() // reading does not block
	translator := s.translator(r, info)
	state, end, err := s.readOutcome(ctx, r.Caller, translator)
	if err != nil {
		return err
	}
	if missing := missingCapabilityIn(end); missing != nil {
		d.Status, d.Error = statusFailed, missing.RPCError()
		return nil
	}
	// The request succeeded; the result says whether the tool failed.
	d.Status, d.Message = statusCompleted, ""
	d.Result, err = translator.Result(ctx, state, end)
	if err == nil {
		d.Result.ResultBase = msg.ResultBase{Type: "complete"}
	}
	return err
}

// readOutcome reads the artifacts and the end of a run that has ended.
func (s *Service) readOutcome(ctx context.Context, caller generators.Caller, t *msg.Translator) (state *msg.State, end runlog.Finished, err error) {
	state = &msg.State{}
	batches, err := s.Engine.Read(ctx, caller, t.RunID, 0)
	if err != nil {
		return state, end, err
	}
	for batch, err := range batches {
		for _, e := range batch {
			if err == nil && e.Kind == "artifact" {
				_, err = t.Notification(state, e)
			}
			if err == nil && e.Kind == runlog.KindFinished {
				end, err = runlog.Decode[runlog.Finished](e)
			}
		}
		if err != nil {
			return state, end, err
		}
	}
	return state, end, nil
}

// missingCapabilityIn returns the missing capability that made a run fail, or nil. It
// recognizes the error's text, which is all that the run's log keeps.
func missingCapabilityIn(end runlog.Finished) *msg.MissingCapability {
	if l := msg.MissingRoots; l.HasEnded(&end) {
		return l
	}
	return nil
}

// updateExtensionTask serves tasks/update. It records all answers or, if one of them is
// not valid, none. It ignores answers to questions that are not open (SEP-2663, Task
// Update Requests).
func (s *Service) updateExtensionTask(r Requester, info engine.Info, p params) (any, *msg.Error) {
	if p.Responses == nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "inputResponses must be an object with answers by the keys of inputRequests")
	}
	if info.Parked != nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "no answer was recorded: %v", &engine.ParkedError{Parked: info.Parked})
	}
	answers, invalid := parseAnswers(s.translator(r, info), info.Asks, p.Responses)
	if len(invalid) > 0 {
		return nil, invalidResponsesError(invalid)
	}
	for _, open := range info.Asks {
		a, given := answers[open.ID]
		if !given {
			continue
		}
		err := s.Engine.AnswerShown(answerContext(), r.Caller, open.ID, a, msg.Surface, msg.RenderingOf(open.Question))
		if err != nil && !errors.Is(err, engine.ErrSettled) && !errors.Is(err, engine.ErrAskNotFound) {
			return nil, s.internalError("recording an answer", info.ID, err)
		}
	}
	return s.newResultBase(r, "complete"), nil
}

// parseAnswers decodes and validates the responses to open questions. It returns the
// answers by the id of their question, and the errors by its key. It skips the user's
// consent to open Beam's page, and questions that the client can't be asked, or that others
// are to answer.
func parseAnswers(t *msg.Translator, asks []engine.OpenAsk, responses map[string]json.RawMessage) (map[string]askdata.Answer, map[string]*generators.InvalidError) {
	answers, invalid := map[string]askdata.Answer{}, map[string]*generators.InvalidError{}
	for _, open := range asks {
		response, given := responses[open.Key]
		_, missing, err := t.AskRequest(&open.Asked, open.ID)
		if !given || open.Excluded || missing != nil || err != nil {
			continue
		}
		a, err := t.Client.ParseAnswer(open.Question, response)
		if err == nil && msg.IsConsent(open.Question, a) {
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
