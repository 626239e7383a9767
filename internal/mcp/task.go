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
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/run"
)

// A task is a run, and its id the run's: everything that is said of it is read
// from the engine, so that a task costs no more than its run and survives a
// restart with it.
//
// There are three protocols: that of MCP 2025-11-25, where the caller decides;
// on top of it the proposal of the protocol's issue 1869, by which questions and
// answers travel in _meta and nothing blocks; and the extension of 2026-07-28
// (SEP-2663), where the photon decides.

// taskSurface is where runs come from that are tasks.
const taskSurface = "mcp task"

// How tasks are timed.
const (
	// soonAsked is how long the reply with a new task waits for its first
	// question, which it carries.
	soonAsked = 250 * time.Millisecond
	// soonDone is how long the reply to an answer waits for what comes of it: a
	// photon that has no more to do ends within it.
	soonDone = 50 * time.Millisecond
	// defaultKeep is how long after its start a task is kept at least, if its
	// client asks for no other time; see [run.Request].
	defaultKeep = 10 * time.Minute
	// pollWorking and pollWaiting are how often a client should ask.
	pollWorking = 500 * time.Millisecond
	pollWaiting = 2 * time.Second
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

// taskOf is a run as a task.
func taskOf(info run.Info) task {
	t := task{
		ID: info.ID, Message: info.Said, Poll: pollWorking.Milliseconds(),
		Created: instant(info.Started), Updated: instant(info.Moved),
	}
	switch info.State {
	case run.Running:
		t.Status = taskWorking
	case run.Waiting:
		t.Status, t.Message, t.Poll = taskInputRequired, waitsFor(info), pollWaiting.Milliseconds()
	case run.Completed:
		t.Status, t.Message = taskCompleted, ""
	case run.Stopped:
		t.Status, t.Message = taskCancelled, info.Error
	default:
		t.Status, t.Message = taskFailed, info.Error
	}
	if info.State.Ended() {
		ttl := info.KeptUntil.Sub(info.Started).Milliseconds()
		t.TTL, t.Poll = &ttl, 0
	}
	return t
}

// instant is a time as tasks write it: ISO 8601, to the millisecond.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// waitsFor says what a run waits for.
func waitsFor(info run.Info) string {
	if len(info.Asks) == 0 {
		return info.Said
	}
	return "waits for an answer: " + info.Asks[0].Question.Message
}

// taskFor is a run as a task for a client. One that can't be asked what the task
// waits for is told where that is answered; so is any, where links are told, for
// it may not ask.
func (s *session) taskFor(c *client, info run.Info) task {
	t := taskOf(info)
	if t.Status != taskInputRequired || len(info.Asks) == 0 {
		return t
	}
	first := info.Asks[0]
	asks := call{server: s.server, session: s, client: c, run: info.ID}
	if _, missing, _ := asks.bid(first.Question, first.ID); missing == nil && !s.server.asks.Link {
		return t
	}
	if origin, err := s.pages(); err == nil {
		t.Message += " Answer at " + origin + "/asks/" + first.ID
	}
	return t
}

// The members of _meta that belong to tasks.
const (
	metaRelatedTask       = "io.modelcontextprotocol/related-task"
	metaPending           = "io.modelcontextprotocol/pending-elicitations"
	metaResponse          = "io.modelcontextprotocol/elicitation-response"
	metaImmediateResponse = "io.modelcontextprotocol/model-immediate-response"
)

// relatedTask says of a message which task it belongs to.
func relatedTask(id string) map[string]any {
	return map[string]any{metaRelatedTask: map[string]string{"taskId": id}}
}

// related says it in a request's params.
func (c *call) related(params any) any {
	if !c.task || c.client.modern() {
		return params
	}
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // they would be written next
	}
	return with(raw, relatedTask(c.run), "_meta")
}

// elsewhere tells whether a question that a task's client can't be asked stays
// open, to be answered in the inbox. Only its own folders nobody else knows.
func elsewhere(q *ask.Question) bool { return q.Kind != ask.KindRoots }

// runOf is the run of a task that is the caller's own.
func (s *Server) runOf(who run.Caller, id string) (run.Info, *rpcError) {
	info, err := s.engine.Info(who, id)
	if err != nil || info.Surface != taskSurface {
		// Whose it is, if it is somebody's, is not told.
		return run.Info{}, faultf(mcp.INVALID_PARAMS, "taskId: there is no such task; it may have been deleted some time after its end")
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

func taskParamsOf(m message) (taskParams, *rpcError) {
	var p taskParams
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return p, faultf(mcp.INVALID_PARAMS, "the params of %s have the wrong shape: %s", m.Method, jsonFault(err))
		}
	}
	if p.ID == "" && m.Method != tasksList {
		return p, faultf(mcp.INVALID_PARAMS, "taskId is missing: it is in the result that created the task")
	}
	return p, nil
}

// until waits for a run to be as it should, for at most d, and returns how it is
// then.
func (s *Server) until(ctx context.Context, who run.Caller, id string, d time.Duration, done func(run.Info) bool) (run.Info, error) {
	info, err := s.engine.Info(who, id)
	if err != nil || done(info) {
		return info, err
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	batches, err := s.engine.Follow(ctx, who, id, info.Last)
	if err != nil {
		return info, err
	}
	for range batches {
		if info, err = s.engine.Info(who, id); err != nil || done(info) {
			break
		}
	}
	return info, err
}

// settledDown tells whether a run has ended or waits, with all its questions
// asked.
func settledDown(info run.Info) bool {
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

// serveTask serves a request about a task.
func (s *Server) serveTask(x *exchange, m message, answer func(reply)) {
	switch {
	case x.client.modern():
		answer(s.serveExtension(x, m))
		return
	case x.client.version != november2025:
		answer(fault(m.ID, unknownMethod(m)))
		return
	}
	p, refused := taskParamsOf(m)
	if refused != nil {
		answer(fault(m.ID, refused))
		return
	}
	switch m.Method {
	case tasksGet:
		answer(s.getTask(x, m, p))
	case tasksResult:
		s.taskResult(x, m, p, answer)
	case tasksCancel:
		answer(s.cancelTask(x, m, p))
	case tasksList:
		answer(s.listTasks(x, m, p))
	default:
		answer(fault(m.ID, unknownMethod(m)))
	}
}

func unknownMethod(m message) *rpcError {
	return faultf(mcp.METHOD_NOT_FOUND, "there is no method %s for this client", m.Method)
}

// taskNamed holds the header Mcp-Name of a request about a task against its
// body (SEP-2663, Streamable HTTP: Routing Headers).
func taskNamed(m message, h http.Header) (named bool, err error) {
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

// standIn takes the place of a photon that is here no more, for the result of a
// run of it.
func standIn(name string) *generators.Photon {
	input, err := generators.ParseSchema(json.RawMessage(`{"type":"object"}`))
	if err != nil {
		panic(err) // it is one
	}
	return generators.FromSchema(name, input, nil, nil, nil)
}
