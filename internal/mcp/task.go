package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
)

// A task is a run, and its id is the run's. Its state is read from the engine, so that a
// task costs no more than its run and survives a restart with it.
//
// There are three protocols: in MCP 2025-11-25, the client decides whether a call is a
// task; the proposal of MCP's issue 1869 adds questions and answers in _meta, so that
// nothing blocks; in the extension of 2026-07-28 (SEP-2663), the photon decides.

// surfaceTask is the surface that runs which are tasks are recorded with.
const surfaceTask = "mcp task"

// The times of tasks.
const (
	// firstQuestionWait is how long the reply that creates a task waits for the task's
	// first question, to include it.
	firstQuestionWait = 250 * time.Millisecond
	// answerEffectWait is how long the reply to an answer waits for its effect. A
	// photon that has nothing left to do ends within that time.
	answerEffectWait = 50 * time.Millisecond
	// defaultTaskTTL is how long after its start a task is kept at least, if its client
	// requests no other time; see [engine.StartRequest].
	defaultTaskTTL = 10 * time.Minute
	// pollIntervalWorking and pollIntervalWaiting are how often a client should poll.
	pollIntervalWorking = 500 * time.Millisecond
	pollIntervalWaiting = 2 * time.Second
)

// The statuses of tasks.
const (
	taskWorking       = "working"
	taskInputRequired = "input_required"
	taskCompleted     = "completed"
	taskFailed        = "failed"
	taskCancelled     = "cancelled"
)

// A task is a Task of MCP 2025-11-25.
type task struct {
	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	// TTL is the time since Created, in milliseconds, after which the task may be
	// deleted. It is nil until the task ends.
	TTL  *int64 `json:"ttl"`
	Poll int64  `json:"pollInterval,omitempty"` // milliseconds
}

// newTask returns a run as a task.
func newTask(info engine.Info) task {
	t := task{
		ID: info.ID, Message: info.LatestStatus, Poll: pollIntervalWorking.Milliseconds(),
		Created: truncateTime(info.Started), Updated: truncateTime(info.StateChanged),
	}
	switch info.State {
	case engine.Running:
		t.Status = taskWorking
	case engine.Waiting:
		t.Status, t.Message, t.Poll = taskInputRequired, waitingMessage(info), pollIntervalWaiting.Milliseconds()
	case engine.Completed:
		t.Status, t.Message = taskCompleted, ""
	case engine.Stopped:
		t.Status, t.Message = taskCancelled, info.Error
	default:
		t.Status, t.Message = taskFailed, info.Error
	}
	if info.State.Ended() {
		ttl := info.RetainedUntil.Sub(info.Started).Milliseconds()
		t.TTL, t.Poll = &ttl, 0
	}
	return t
}

// truncateTime returns t as tasks report it: in UTC, to the millisecond.
func truncateTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// waitingMessage returns the status message of a waiting run.
func waitingMessage(info engine.Info) string {
	if len(info.Asks) == 0 {
		return info.LatestStatus
	}
	return "waits for an answer: " + info.Asks[0].Question.Message
}

// newTaskFor returns a run as a task for a client. The status message includes the
// address of the question if the client can't be asked. With [AskPolicy.Link] it always
// does, since the client may not ask.
func (s *session) newTaskFor(c *client, info engine.Info) task {
	t := newTask(info)
	if t.Status != taskInputRequired || len(info.Asks) == 0 {
		return t
	}
	first := info.Asks[0]
	asks := call{server: s.server, session: s, client: c, runID: info.ID}
	if _, missing, _ := asks.buildClientRequest(first.Question, first.ID); missing == nil && !s.server.askPolicy.Link {
		return t
	}
	if base, err := s.pageBaseURL(); err == nil {
		t.Message += " Answer at " + links.Base(base).Ask(first.ID)
	}
	return t
}

// Members of _meta that belong to tasks.
const (
	metaRelatedTask         = "io.modelcontextprotocol/related-task"
	metaPendingElicitations = "io.modelcontextprotocol/pending-elicitations"
	metaElicitationResponse = "io.modelcontextprotocol/elicitation-response"
	metaImmediateResponse   = "io.modelcontextprotocol/model-immediate-response"
)

// relatedTaskMeta returns the _meta of a message that belongs to a task.
func relatedTaskMeta(id string) map[string]any {
	return map[string]any{metaRelatedTask: map[string]string{"taskId": id}}
}

// withRelatedTask adds that _meta to a request's params.
func (c *call) withRelatedTask(params any) any {
	if !c.isTask || c.client.IsModern() {
		return params
	}
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // they could not be sent either
	}
	return withMembers(raw, relatedTaskMeta(c.runID), "_meta")
}

// isAnswerableElsewhere reports whether a question that a task's client can't be asked
// may be answered in the inbox. Only the client knows its roots.
func isAnswerableElsewhere(q *ask.Question) bool { return q.Kind != ask.KindRoots }

// findTaskRun returns the run of a task that belongs to the caller.
func (s *Server) findTaskRun(caller engine.Caller, id string) (engine.Info, *rpcError) {
	info, err := s.engine.Info(caller, id)
	if err != nil || info.Surface != surfaceTask {
		// The error does not disclose whether the task belongs to another caller.
		return engine.Info{}, rpcErrorf(mcp.INVALID_PARAMS, "taskId: there is no such task; it may have been deleted some time after its end")
	}
	return info, nil
}

// awaitRunState waits until done reports true for the run, for at most d, and returns
// the run's state.
func (s *Server) awaitRunState(ctx context.Context, caller engine.Caller, id string, d time.Duration, done func(engine.Info) bool) (engine.Info, error) {
	info, err := s.engine.Info(caller, id)
	if err != nil || done(info) {
		return info, err
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	batches, err := s.engine.Follow(ctx, caller, id, info.LastSeq)
	if err != nil {
		return info, err
	}
	for range batches {
		if info, err = s.engine.Info(caller, id); err != nil || done(info) {
			break
		}
	}
	return info, err
}

// hasEndedOrAsked reports whether a run has ended, or waits with all its questions
// asked.
func hasEndedOrAsked(info engine.Info) bool {
	n := len(info.Asks)
	return info.State.Ended() || n > 0 && !info.Asks[n-1].More
}
