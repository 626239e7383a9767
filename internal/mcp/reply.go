package mcp

import (
	"encoding/json"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A reply is the response to a request. There is none if its message is nil.
type reply struct {
	message []byte
	// cursor is the event id that a client which received the message resumes after.
	cursor string
	// code is the error code, if the message is an error response.
	code int
}

func errorReply(id json.RawMessage, err *msg.Error) reply {
	return reply{message: msg.EncodeError(id, err), code: err.Code}
}

func (s *Server) newResultBase(c *client, kind string) msg.ResultBase {
	return msg.NewResultBase(&c.Client, kind, s.implementation)
}

// A deferredReply finishes the work for a message. It passes the reply, which may be
// empty, to answer once, perhaps after it has returned.
type deferredReply func(answer func(reply))

// immediateReply returns a deferredReply for a reply that is already known.
func immediateReply(r reply) deferredReply { return func(answer func(reply)) { answer(r) } }

// await finishes the work and waits for the reply.
func (w deferredReply) await() reply {
	got := make(chan reply, 1)
	w(func(r reply) { got <- r })
	return <-got
}
