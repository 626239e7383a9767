package requests

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A Deferred finishes the work for a message. It passes the reply, which may be
// empty, to answer once, perhaps after it has returned.
type Deferred func(answer func(Reply))

// Immediate returns a Deferred for a reply that is already known.
func Immediate(r Reply) Deferred { return func(answer func(Reply)) { answer(r) } }

// Await finishes the work and waits for the reply.
func (w Deferred) Await() Reply {
	got := make(chan Reply, 1)
	w(func(r Reply) { got <- r })
	return <-got
}

// maxBatchMessages is the largest number of messages in a batch.
const maxBatchMessages = 100

// ErrInitializeInBatch means that a batch has initialize, which must have been
// answered before any other request is sent.
var ErrInitializeInBatch = msg.Errorf(mcp.INVALID_REQUEST, "initialize must not be part of a batch")

// SplitBatch returns the messages of a batch. Only 2025-03-26 has batches; later
// versions removed them.
func SplitBatch(raw []byte, c *Client) ([]json.RawMessage, *msg.Error) {
	if c == nil || c.VersionAtLeast(mcp.ProtocolVersion20250618) {
		return nil, msg.Errorf(mcp.INVALID_REQUEST, "only clients of protocol version %s may send batches, after initialize", mcp.ProtocolVersion20250326)
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

// JoinReplies runs the requests of a batch concurrently, and returns their replies as
// one message, in the order of the requests.
func JoinReplies(works []Deferred) Reply {
	replies := make([]Reply, len(works))
	var all sync.WaitGroup
	for i, work := range works {
		all.Go(func() { replies[i] = work.Await() })
	}
	all.Wait()
	replies = slices.DeleteFunc(replies, func(r Reply) bool { return r.Message == nil })
	if len(replies) == 0 {
		return Reply{}
	}
	joined := Reply{Batch: replies}
	if joined.IsLarge() {
		return joined
	}
	var message bytes.Buffer
	_ = joined.WriteMessage(&message) // which doesn't fail
	return Reply{Message: message.Bytes()}
}
