package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A task is a run, and its id the run's: everything that is said of it is read
// from the engine, so that a task costs no more than its run and survives a
// restart with it.
//
// There are three protocols: that of MCP 2025-11-25, where the caller decides;
// on top of it the proposal of the protocol's issue 1869, by which questions and
// answers travel in _meta and nothing blocks; and the extension of 2026-07-28
// (SEP-2663), where the photon decides.

// surfaceTask is where runs come from that are tasks.
const surfaceTask = "mcp task"

// How tasks are timed.
const (
	// firstQuestionWait is how long the reply with a new task waits for its first
	// question, which it carries.
	firstQuestionWait = 250 * time.Millisecond
	// answerEffectWait is how long the reply to an answer waits for what comes of it: a
	// photon that has no more to do ends within it.
	answerEffectWait = 50 * time.Millisecond
	// defaultTaskTTL is how long after its start a task is kept at least, if its
	// client asks for no other time; see [run.StartRequest].
	defaultTaskTTL = 10 * time.Minute
	// pollIntervalWorking and pollWaiting are how often a client should ask.
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

// task is a Task of MCP 2025-11-25.
type task struct {
	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	// TTL is the time since Created, in milliseconds, after which the task may
	// be deleted; nil while nothing deletes it, which is as long as it goes on.
	TTL  *int64 `json:"ttl"`
	Poll int64  `json:"pollInterval,omitempty"` // milliseconds
}

// newTask is a run as a task.
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

// truncateTime is a time as tasks write it: ISO 8601, to the millisecond.
func truncateTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// waitingMessage says what a run waits for.
func waitingMessage(info engine.Info) string {
	if len(info.Asks) == 0 {
		return info.LatestStatus
	}
	return "waits for an answer: " + info.Asks[0].Question.Message
}

// newTaskFor is a run as a task for a client. One that can't be asked what the task
// waits for is told where that is answered; so is any, where links are told, for
// it may not ask.
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
	if origin, err := s.pageBaseURL(); err == nil {
		t.Message += " Answer at " + origin + "/asks/" + first.ID
	}
	return t
}

// The members of _meta that belong to tasks.
const (
	metaRelatedTask         = "io.modelcontextprotocol/related-task"
	metaPendingElicitations = "io.modelcontextprotocol/pending-elicitations"
	metaElicitationResponse = "io.modelcontextprotocol/elicitation-response"
	metaImmediateResponse   = "io.modelcontextprotocol/model-immediate-response"
)

// relatedTaskMeta says of a message which task it belongs to.
func relatedTaskMeta(id string) map[string]any {
	return map[string]any{metaRelatedTask: map[string]string{"taskId": id}}
}

// withRelatedTask says it in a request's params.
func (c *call) withRelatedTask(params any) any {
	if !c.isTask || c.client.IsModern() {
		return params
	}
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // they would be written next
	}
	return withMembers(raw, relatedTaskMeta(c.runID), "_meta")
}

// isAnswerableElsewhere tells whether a question that a task's client can't be asked stays
// open, to be answered in the inbox. Only its own folders nobody else knows.
func isAnswerableElsewhere(q *ask.Question) bool { return q.Kind != ask.KindRoots }

// findTaskRun is the run of a task that is the caller's own.
func (s *Server) findTaskRun(caller engine.Caller, id string) (engine.Info, *rpcError) {
	info, err := s.engine.Info(caller, id)
	if err != nil || info.Surface != surfaceTask {
		// Whose it is, if it is somebody's, is not told.
		return engine.Info{}, rpcErrorf(mcp.INVALID_PARAMS, "taskId: there is no such task; it may have been deleted some time after its end")
	}
	return info, nil
}

// taskParams are the params of requests about a task.
type taskParams struct {
	ID        string                     `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
	Cursor    string                     `json:"cursor"`
	Meta      struct {
		Response json.RawMessage `json:"io.modelcontextprotocol/elicitation-response"`
	} `json:"_meta"`
}

func parseTaskParams(m message) (taskParams, *rpcError) {
	var p taskParams
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return p, rpcErrorf(mcp.INVALID_PARAMS, "the params of %s have the wrong shape: %s", m.Method, msg.DescribeJSONError(err))
		}
	}
	if p.ID == "" && m.Method != tasksList {
		return p, rpcErrorf(mcp.INVALID_PARAMS, "taskId is missing: it is in the result that created the task")
	}
	return p, nil
}

// awaitRunState waits for a run to be as it should, for at most d, and returns how it is
// then.
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

// hasEndedOrAsked tells whether a run has ended or waits, with all its questions
// asked.
func hasEndedOrAsked(info engine.Info) bool {
	n := len(info.Asks)
	return info.State.Ended() || n > 0 && !info.Asks[n-1].More
}

// The methods of tasks.
const (
	tasksGet    = "tasks/get"
	tasksResult = "tasks/result"
	tasksList   = "tasks/list"
	tasksCancel = "tasks/cancel"
	tasksUpdate = "tasks/update"
)

func isTaskMethod(method string) bool { return strings.HasPrefix(method, "tasks/") }

// serveTaskRequest serves a request about a task.
func (s *Server) serveTaskRequest(rc *requestContext, m message, answer func(reply)) {
	switch {
	case rc.client.IsModern():
		answer(s.serveExtensionTask(rc, m))
		return
	case rc.client.Version != version20251125:
		answer(errorReply(m.ID, unknownMethodError(m)))
		return
	}
	p, refused := parseTaskParams(m)
	if refused != nil {
		answer(errorReply(m.ID, refused))
		return
	}
	switch m.Method {
	case tasksGet:
		answer(s.getTask(rc, m, p))
	case tasksResult:
		s.getTaskResult(rc, m, p, answer)
	case tasksCancel:
		answer(s.cancelTask(rc, m, p))
	case tasksList:
		answer(s.listTasks(rc, m, p))
	default:
		answer(errorReply(m.ID, unknownMethodError(m)))
	}
}

func unknownMethodError(m message) *rpcError {
	return rpcErrorf(mcp.METHOD_NOT_FOUND, "there is no method %s for this client", m.Method)
}

// checkTaskNameHeader holds the header Mcp-Name of a request about a task against its
// body (SEP-2663, Streamable HTTP: Routing Headers).
func checkTaskNameHeader(m message, h http.Header) (named bool, err error) {
	if m.Method != tasksGet && m.Method != tasksUpdate && m.Method != tasksCancel {
		return false, nil
	}
	var body struct {
		ID string `json:"taskId"`
	}
	_ = json.Unmarshal(m.Params, &body) // what is wrong with them is said later
	said, ok := mcp.DecodeHeaderValue(h.Get(mcp.HeaderName))
	if !ok || said != body.ID {
		return true, errors.New("the header " + mcp.HeaderName + " is to have params.taskId")
	}
	return true, nil
}
