package mcp

import (
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// getTaskResult serves tasks/result of MCP 2025-11-25. It waits for the task's end and
// meanwhile asks the client the task's questions. It sends no events, because the task
// has a statusMessage.
func (s *Server) getTaskResult(rc *requestContext, m msg.Incoming, p taskParams, answer func(reply)) {
	info, refused := s.findTaskRun(rc.client.caller, p.ID)
	if refused != nil {
		answer(errorReply(m.ID, refused))
		return
	}
	f := s.newTaskFollower(rc, m, info)
	if rc.session.resumable && !rc.session.addResumableCall(f.call) { // the session has ended
		answer(reply{})
		return
	}
	rc.sender.setResumeCursor(f.cursor(0))
	f.follow(nil, answer)
}

// newTaskFollower returns a follower that sends m's client the questions of a task's run,
// from its beginning, but no log messages.
func (s *Server) newTaskFollower(rc *requestContext, m msg.Incoming, info engine.Info) *follower {
	c := s.newTaskCall(rc, info)
	quiet := *rc.client
	quiet.LogLevel = msg.NoLogging
	c.client, c.requestID, c.sender, c.number = &quiet, m.ID, rc.sender, s.lastCallNumber.Add(1)
	return c.newFollower(rc.sender, rc.inFlight)
}
