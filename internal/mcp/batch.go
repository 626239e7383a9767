package mcp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxBatch bounds the messages of a batch.
const maxBatch = 100

// errInitializeAlone: everything else in the batch would come too early.
var errInitializeAlone = faultf(mcp.INVALID_REQUEST, "initialize is not part of a batch")

// split takes a batch apart. Only 2025-03-26 has batches; later versions
// dropped them.
func split(raw []byte, c *client) ([]json.RawMessage, *rpcError) {
	if c == nil || c.since(june2025) {
		return nil, faultf(mcp.INVALID_REQUEST, "batches are taken from clients of protocol version %s only, after initialize", march2025)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, faultf(mcp.PARSE_ERROR, "this is no JSON")
	}
	if len(parts) == 0 || len(parts) > maxBatch {
		return nil, faultf(mcp.INVALID_REQUEST, "a batch has 1 to %d messages", maxBatch)
	}
	return parts, nil
}

// together serves the requests of a batch at once. Its replies are one message,
// in the order of the requests.
func together(works []work) reply {
	replies := make([]reply, len(works))
	var all sync.WaitGroup
	for i, work := range works {
		all.Go(func() { replies[i] = work.wait() })
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
