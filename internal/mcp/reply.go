package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
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
	// batch are the replies that this one joins, if one of them is large.
	batch []reply
}

// isLarge reports whether the reply is to be written with writeTo, since it has a value that
// isn't in memory.
func (r reply) isLarge() bool {
	return r.large != nil || slices.ContainsFunc(r.batch, reply.isLarge)
}

// writeTo writes the reply.
func (r reply) writeTo(w io.Writer) error {
	switch {
	case r.large != nil:
		return r.large.WriteMessage(w, r.message)
	case r.batch == nil:
		_, err := w.Write(r.message)
		return err
	}
	separator := "["
	for _, part := range r.batch {
		if _, err := io.WriteString(w, separator); err != nil {
			return err
		}
		if err := part.writeTo(w); err != nil {
			return err
		}
		separator = ","
	}
	_, err := io.WriteString(w, "]")
	return err
}

// finish ends a response over HTTP with the reply.
func (r reply) finish(out *streamable.Response, status int) {
	if r.isLarge() {
		out.FinishLarge(r.message, func(w io.Writer, _ []byte) error { return r.writeTo(w) }, r.cursor, status)
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
	replies = slices.DeleteFunc(replies, func(r reply) bool { return r.message == nil })
	if len(replies) == 0 {
		return reply{}
	}
	joined := reply{batch: replies}
	if joined.isLarge() {
		return joined
	}
	var message bytes.Buffer
	_ = joined.writeTo(&message) // which doesn't fail
	return reply{message: message.Bytes()}
}
