package calls

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlog"
)

// replies makes the replies of one request. It is immutable.
type replies struct {
	id     json.RawMessage // of the request
	client *requests.Client
	server mcp.Implementation
	format resultFormat
}

// A resultFormat returns the reply with what a run ended with, as a tool's result.
type resultFormat func(r replies, result *msg.ToolResult) requests.Reply

// result returns the reply with a result, which has the cursor.
func (r replies) result(result *msg.ToolResult, cursor string) requests.Reply {
	reply := r.format(r, result)
	if reply.Code == 0 {
		reply.Cursor = cursor
	}
	return reply
}

func (r replies) error(err *msg.Error) requests.Reply { return requests.ErrorReply(r.id, err) }

func (r replies) base(kind string) msg.ResultBase {
	return msg.NewResultBase(&r.client.Client, kind, r.server)
}

// failure logs err and returns a reply that does not disclose it. If another caller has
// adopted the run, the reply says so.
func (r replies) failure(err error, run *run) requests.Reply {
	if errors.Is(err, engine.ErrForbidden) {
		return r.format(r, msg.ErrorResult("An operator has adopted this run. It goes on without this call. Don't call the tool again for the same purpose: that would start over."))
	}
	run.logger.Error("serving a call", "run", run.id, "photon", run.photon.Name(), "err", err)
	return r.error(errFailed)
}

// errFailed is the error for what only the log describes.
var errFailed = msg.Errorf(mcp.INTERNAL_ERROR, "Beam could not serve this call; its log says why")

// toolResult is the format of calls of tools.
func toolResult(r replies, result *msg.ToolResult) requests.Reply {
	base := r.base("complete")
	if meta := result.Meta; meta != nil {
		maps.Copy(meta, base.Meta)
		base.Meta = meta
	}
	result.ResultBase = base
	return r.encode(result)
}

func (r replies) encode(result *msg.ToolResult) requests.Reply {
	large := result.TakeLarge()
	return requests.Reply{Message: msg.EncodeResult(r.id, result), Large: large}
}

// taskResult returns the format of a task's result (MCP 2025-11-25).
func taskResult(run string) resultFormat {
	return func(r replies, result *msg.ToolResult) requests.Reply {
		result.ResultBase = r.base("complete")
		result.Meta = tasks.RelatedMeta(run)
		return r.encode(result)
	}
}

// upstreamResult returns the format of what an upstream returned to a request with a
// method.
func upstreamResult(method string) resultFormat {
	return func(r replies, result *msg.ToolResult) requests.Reply {
		content := result.Foreign()
		if content == nil {
			text := "the request failed"
			if len(result.Content) > 0 && result.Content[0].Text != nil {
				text = *result.Content[0].Text
			}
			return r.error(msg.Errorf(mcp.INTERNAL_ERROR, "%s", text))
		}
		var failed struct {
			Error *msg.Error `json:"error"`
		}
		if json.Unmarshal(content, &failed) == nil && failed.Error != nil {
			if failed.Error.Code == mcp.RESOURCE_NOT_FOUND && r.client.IsModern() { // what it is has changed
				failed.Error.Code = mcp.INVALID_PARAMS
			}
			return r.error(failed.Error)
		}
		if method == string(mcp.MethodResourcesRead) {
			content = addCacheHints(r.client, content)
		}
		return requests.Reply{Message: msg.EncodeResult(r.id, r.base("complete").AddTo(content))}
	}
}

// addCacheHints adds to a result what modern clients require it to say of caching.
func addCacheHints(c *requests.Client, result json.RawMessage) json.RawMessage {
	if !c.IsModern() {
		return result
	}
	hints := map[string]any{"ttlMs": 0, "cacheScope": "private"}
	for name := range hints {
		if rawjson.Member(result, name) != nil {
			delete(hints, name)
		}
	}
	return msg.WithMembers(result, hints)
}

// startFailure returns the reply for a run that could not be started.
func (s *starter) startFailure(r *session.Request, start start, err error) requests.Reply {
	var invalid *generators.InvalidError
	var result *msg.ToolResult
	switch {
	case errors.As(err, &invalid):
		result = msg.InvalidArgumentsResult(start.photon.Name(), invalid)
	case errors.Is(err, engine.ErrTooManyRuns), errors.Is(err, engine.ErrClosing), errors.Is(err, budget.ErrExceeded):
		result = msg.ErrorResult("The tool was not started: " + err.Error() + ".")
	case errors.Is(err, runlog.ErrDiskFull):
		result = msg.ErrorResult("The tool was not started: " + runlog.ErrDiskFull.Error() + ".")
	case engine.IsTransient(err):
		result = msg.ErrorResult("The tool was not started: " + runlog.ErrUnavailable.Error() + ".")
	default:
		s.config.Logger.Error("serving a call", "photon", start.photon.Name(), "err", err)
		return r.Error(errFailed)
	}
	if !start.hasToolResult {
		return r.Error(msg.Errorf(mcp.INVALID_PARAMS, "%s", *result.Content[0].Text))
	}
	return s.replies(r, toolResult).result(result, "")
}
