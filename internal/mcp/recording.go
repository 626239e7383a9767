package mcp

import (
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
)

// observe returns a message of the client as the engine records it.
func (c *client) observe(way recording.Direction, raw []byte) recording.Observed {
	return recording.Observed{Side: recording.Client, Peer: c.name, Direction: way, Data: raw}
}

// record records a message of the call with its run, if it has one. What Beam sends is
// recorded before it is sent, so that it precedes what the client responds.
func (c *call) record(way recording.Direction, raw []byte) {
	if c.runID != "" && raw != nil {
		c.server.engine.RecordMessage(c.runID, c.client.observe(way, raw))
	}
}

// recordRequest records the call's request, once its run is known.
func (c *call) recordRequest() {
	c.record(recording.In, c.received)
	c.received = nil
}

// recordReplies returns an answer that also records the reply.
func (c *call) recordReplies(answer func(reply)) func(reply) {
	return func(r reply) {
		if c.runID != "" {
			c.server.recordReply(c.runID, c.client, r)
		}
		answer(r)
	}
}

// recordReply records a reply with a run.
func (s *Server) recordReply(run string, c *client, r reply) {
	if r.message == nil {
		return
	}
	o := c.observe(recording.Out, r.message)
	if r.large != nil {
		o.Data, o.Size = r.large.Outline(r.message)
	}
	s.engine.RecordMessage(run, o)
}

// recordTaskRequest records a request about a task, and returns an answer that also
// records the reply.
func (s *Server) recordTaskRequest(rc *requestContext, m msg.Incoming, answer func(reply)) func(reply) {
	info, refused := s.tasks.FindRequestedRun(rc.client.caller, m)
	if refused != nil {
		return answer
	}
	s.engine.RecordMessage(info.ID, rc.client.observe(recording.In, m.Raw))
	return func(r reply) {
		s.recordReply(info.ID, rc.client, r)
		answer(r)
	}
}

// A recordedSender records what it sends for a call.
type recordedSender struct {
	messageSender
	call *call
}

// Send implements [messageSender].
func (s *recordedSender) Send(cursor string, message []byte) error {
	s.call.record(recording.Out, message)
	return s.messageSender.Send(cursor, message)
}

// recorded returns a sender that records what it sends for the call.
func (c *call) recorded(out messageSender) messageSender {
	if s, ok := out.(*recordedSender); ok {
		return s
	}
	return &recordedSender{out, c}
}
