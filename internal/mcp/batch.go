package mcp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxBatchMessages bounds the messages of a batch.
const maxBatchMessages = 100

// errInitializeInBatch: everything else in the batch would come too early.
var errInitializeInBatch = rpcErrorf(mcp.INVALID_REQUEST, "initialize is not part of a batch")

// splitBatch takes a batch apart. Only 2025-03-26 has batches; later versions
// dropped them.
func splitBatch(raw []byte, c *client) ([]json.RawMessage, *rpcError) {
	if c == nil || c.VersionAtLeast(version20250618) {
		return nil, rpcErrorf(mcp.INVALID_REQUEST, "batches are taken from clients of protocol version %s only, after initialize", version20250326)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, rpcErrorf(mcp.PARSE_ERROR, "this is no JSON")
	}
	if len(parts) == 0 || len(parts) > maxBatchMessages {
		return nil, rpcErrorf(mcp.INVALID_REQUEST, "a batch has 1 to %d messages", maxBatchMessages)
	}
	return parts, nil
}

// joinReplies serves the requests of a batch at once. Its replies are one message,
// in the order of the requests.
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
			messages = append(messages, r.message)
		}
	}
	if messages == nil {
		return reply{}
	}
	joined := append([]byte{'['}, bytes.Join(messages, []byte{','})...)
	return reply{message: append(joined, ']')}
}
