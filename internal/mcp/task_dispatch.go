package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

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
func (s *Server) serveTaskRequest(rc *requestContext, m msg.Incoming, answer func(reply)) {
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

func unknownMethodError(m msg.Incoming) *msg.Error {
	return msg.Errorf(mcp.METHOD_NOT_FOUND, "there is no method %s for this client", m.Method)
}

// checkTaskNameHeader compares the header Mcp-Name of a request about a task with its
// body (SEP-2663, Streamable HTTP: Routing Headers). Named reports whether the request
// needs the header.
func checkTaskNameHeader(m msg.Incoming, h http.Header) (named bool, err error) {
	if m.Method != tasksGet && m.Method != tasksUpdate && m.Method != tasksCancel {
		return false, nil
	}
	var body struct {
		ID string `json:"taskId"`
	}
	_ = json.Unmarshal(m.Params, &body) // malformed params are refused later
	name, ok := mcp.DecodeHeaderValue(h.Get(mcp.HeaderName))
	if !ok || name != body.ID {
		return true, errors.New("the header " + mcp.HeaderName + " must equal params.taskId")
	}
	return true, nil
}

// taskParams are the params of a request about a task.
type taskParams struct {
	ID        string                     `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
	Cursor    string                     `json:"cursor"`
	Meta      struct {
		Response json.RawMessage `json:"io.modelcontextprotocol/elicitation-response"`
	} `json:"_meta"`
}

func parseTaskParams(m msg.Incoming) (taskParams, *msg.Error) {
	var p taskParams
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return p, msg.Errorf(mcp.INVALID_PARAMS, "the params of %s have the wrong shape: %s", m.Method, msg.DescribeJSONError(err))
		}
	}
	if p.ID == "" && m.Method != tasksList {
		return p, msg.Errorf(mcp.INVALID_PARAMS, "taskId is missing: it is in the result that created the task")
	}
	return p, nil
}
