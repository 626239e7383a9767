package requests

import (
	"encoding/json"
	"io"
	"slices"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
)

// A Reply is the response to a request. There is none if its Message is nil.
type Reply struct {
	Message []byte
	// Cursor is the event id that a client which received the message resumes after.
	Cursor string
	// Code is the error code, if the message is an error response.
	Code int
	// Large is the value that the message has marks for; nil if it has none.
	Large *msg.LargeResult
	// Batch are the replies that this one joins, if one of them is large.
	Batch []Reply
}

// IsLarge reports whether the reply is to be written with WriteMessage, since it has a value that
// isn't in memory.
func (r Reply) IsLarge() bool {
	return r.Large != nil || slices.ContainsFunc(r.Batch, Reply.IsLarge)
}

// WriteMessage writes the reply.
func (r Reply) WriteMessage(w io.Writer) error {
	switch {
	case r.Large != nil:
		return r.Large.WriteMessage(w, r.Message)
	case r.Batch == nil:
		_, err := w.Write(r.Message)
		return err
	}
	separator := "["
	for _, part := range r.Batch {
		if _, err := io.WriteString(w, separator); err != nil {
			return err
		}
		if err := part.WriteMessage(w); err != nil {
			return err
		}
		separator = ","
	}
	_, err := io.WriteString(w, "]")
	return err
}

// Observe returns the reply to a client as the engine records it.
func (r Reply) Observe(c *Client) recording.Observed {
	o := c.Observe(recording.Out, r.Message)
	if r.Large != nil {
		o.Data, o.Size = r.Large.Outline(r.Message)
	}
	return o
}

// ErrorReply returns the reply to a request that failed.
func ErrorReply(id json.RawMessage, err *msg.Error) Reply {
	return Reply{Message: msg.EncodeError(id, err), Code: err.Code}
}

// A Sender sends the messages of one request: on the stream of its response, or
// on the only stream of stdio. Its methods may be called concurrently.
type Sender interface {
	// Send writes a message and returns once it is written, so that messages keep their
	// order. A client can resume after cursor, which may be empty. The error is
	// msg.ErrClientGone.
	Send(cursor string, message []byte) error
	// SetResumeCursor sets what a client that has received no message yet resumes
	// after.
	SetResumeCursor(cursor string)
}
