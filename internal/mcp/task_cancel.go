package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// cancelTask serves tasks/cancel of MCP 2025-11-25.
func (s *Server) cancelTask(rc *requestContext, m msg.Incoming, p taskParams) reply {
	info, refused := s.findTaskRun(rc.client.caller, p.ID)
	if refused != nil {
		return errorReply(m.ID, refused)
	}
	hadEnded := info.State.Ended()
	if !hadEnded {
		if err := s.engine.Cancel(context.Background(), rc.client.caller, info.ID); err != nil {
			return errorReply(m.ID, s.internalError("cancelling a task", info.ID, err))
		}
		if info, refused = s.findTaskRun(rc.client.caller, p.ID); refused != nil {
			return errorReply(m.ID, refused)
		}
	}
	t := newTask(info)
	if hadEnded || t.Status != taskCancelled {
		return errorReply(m.ID, msg.Errorf(mcp.INVALID_PARAMS, "the task can't be cancelled: it is already %s", t.Status))
	}
	return reply{message: msg.EncodeResult(m.ID, t)}
}
