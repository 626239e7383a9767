package tasks

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
	MethodGet    = "tasks/get"
	MethodResult = "tasks/result" // waits for a task's end (MCP 2025-11-25)
	methodList   = "tasks/list"
	methodCancel = "tasks/cancel"
	methodUpdate = "tasks/update"
)

// IsMethod reports whether method is one of tasks.
func IsMethod(method string) bool { return strings.HasPrefix(method, "tasks/") }

func unknownMethodError(m msg.Incoming) *msg.Error {
	return msg.Errorf(mcp.METHOD_NOT_FOUND, "there is no method %s for this client", m.Method)
}

// CheckNameHeader compares the header Mcp-Name of a request about a task with its body
// (SEP-2663, Streamable HTTP: Routing Headers). Named reports whether the request needs
// the header.
func CheckNameHeader(m msg.Incoming, h http.Header) (named bool, err error) {
	if m.Method != MethodGet && m.Method != methodUpdate && m.Method != methodCancel {
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

// params are the params of a request about a task.
type params struct {
	ID        string                     `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
	Cursor    string                     `json:"cursor"`
	Meta      struct {
		Response json.RawMessage `json:"io.modelcontextprotocol/elicitation-response"`
	} `json:"_meta"`
}

func parseParams(m msg.Incoming) (params, *msg.Error) {
	var p params
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return p, msg.Errorf(mcp.INVALID_PARAMS, "the params of %s have the wrong shape: %s", m.Method, msg.DescribeJSONError(err))
		}
	}
	if p.ID == "" && m.Method != methodList {
		return p, msg.Errorf(mcp.INVALID_PARAMS, "taskId is missing: it is in the result that created the task")
	}
	return p, nil
}
