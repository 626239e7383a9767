package mcp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/streamable"
)

// A reply is the response to a request. There is none if its message is nil.
type reply struct {
	message []byte
	// cursor is the event id that a client which received the message resumes after.
	cursor string
	// code is the error code, if the message is an error response.
	code int
	// large is the value that the message has marks for; nil if it has none.
	large *msg.LargeResult
}

// whole returns the message with its value, in memory.
func (r reply) whole() []byte {
	if r.large == nil {
		return r.message
	}
	whole, err := r.large.Expand(r.message)
	if err != nil {
		return nil // the run was deleted; who waits for the reply is told nothing
	}
	return whole
}

// finish ends a response over HTTP with the reply.
func (r reply) finish(out *streamable.Response, status int) {
	if r.large != nil {
		out.FinishLarge(r.message, r.large.WriteMessage, r.cursor, status)
		return
	}
	out.Finish(r.message, r.cursor, status)
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

// A messageSender sends the messages of one request: on the stream of its response, or
// on the only stream of stdio. Its methods may be called concurrently.
type messageSender interface {
	// Send writes a message and returns once it is written, so that messages keep their
	// order. A client can resume after cursor, which may be empty. The error is
	// msg.ErrClientGone.
	Send(cursor string, message []byte) error
	// SetResumeCursor sets what a client that has received no message yet resumes
	// after.
	SetResumeCursor(cursor string)
}

// maxBatchMessages is the largest number of messages in a batch.
const maxBatchMessages = 100

// errInitializeInBatch means that a batch has initialize, which must have been
// answered before any other request is sent.
var errInitializeInBatch = msg.Errorf(mcp.INVALID_REQUEST, "initialize must not be part of a batch")

// splitBatch returns the messages of a batch. Only 2025-03-26 has batches; later
// versions removed them.
func splitBatch(raw []byte, c *client) ([]json.RawMessage, *msg.Error) {
	if c == nil || c.VersionAtLeast(version20250618) {
		return nil, msg.Errorf(mcp.INVALID_REQUEST, "only clients of protocol version %s may send batches, after initialize", version20250326)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, msg.Errorf(mcp.PARSE_ERROR, "the batch is not valid JSON")
	}
	if len(parts) == 0 || len(parts) > maxBatchMessages {
		return nil, msg.Errorf(mcp.INVALID_REQUEST, "a batch must have 1 to %d messages", maxBatchMessages)
	}
	return parts, nil
}

// joinReplies runs the requests of a batch concurrently, and returns their replies as
// one message, in the order of the requests.
func joinReplies(works []deferredReply) reply {
	replies := make([]reply, len(works))
	var all sync.WaitGroup
	for i, work := range works {
		all.Go(func() { replies[i] = work.await() })
	}
	all.Wait()
	var messages [][]byte
	for _, r := range replies {
		if r.message != nil {
			messages = append(messages, r.whole())
		}
	}
	if messages == nil {
		return reply{}
	}
	joined := append([]byte{'['}, bytes.Join(messages, []byte{','})...)
	return reply{message: append(joined, ']')}
}
