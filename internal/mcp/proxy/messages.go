package proxy

import (
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// send sends a message of the proxy's own to the client, without waiting.
func (p *runningProxy) send(m message.Outgoing) { p.writer.SendAsync(message.Encode(m)) }

// sendError responds to the request with the raw id.
func (p *runningProxy) sendError(id, text string) {
	p.send(message.Outgoing{ID: json.RawMessage(id), Error: message.Errorf(mcp.INTERNAL_ERROR, "%s", text)})
}

// sendCancelled cancels the backend's request with the raw id.
func (p *runningProxy) sendCancelled(id string) {
	params := map[string]any{"requestId": json.RawMessage(id), "reason": "Beam has ended"}
	p.send(message.Outgoing{Method: string(mcp.MethodNotificationCancelled), Params: params})
}

// refuseLongLine responds to a line that is too long to read, whose id is unknown.
func (p *runningProxy) refuseLongLine() {
	p.send(message.Outgoing{Error: message.Errorf(mcp.INVALID_REQUEST, "a message has at most %d bytes", message.MaxSize)})
}

// replyUnavailable responds to the requests among messages when no backend can be reached.
func (p *runningProxy) replyUnavailable(messages parsedLine, err error) {
	p.Logger.Error("no Beam can serve the client", "err", err)
	for i := range messages {
		if m := &messages[i]; m.IsRequest() {
			p.sendError(string(m.ID), "Beam has ended, and could not be started again; its log says why")
		}
	}
}

// cancelledID returns the raw id of the request that a cancellation cancels, or "".
func cancelledID(m *message.Incoming) string {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &params) // a malformed cancellation cancels nothing
	return string(params.ID)
}

// A parsedLine has the messages of a line: one message, or those of a batch. It is empty
// for a line without any, which the backend refuses.
type parsedLine []message.Incoming

// needsBackend reports whether a backend must respond: to a request, or to something that
// is not a message.
func (l parsedLine) needsBackend() bool {
	return len(l) == 0 || slices.ContainsFunc(l, func(m message.Incoming) bool { return m.IsRequest() })
}

// parseLine decodes a line without checking its messages.
func parseLine(line []byte) parsedLine {
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		parts = nil
		if json.Unmarshal(line, &parts) != nil {
			return nil
		}
	}
	messages := make(parsedLine, len(parts))
	for i, raw := range parts {
		if json.Unmarshal(raw, &messages[i]) != nil {
			return nil
		}
		messages[i].Raw = raw
	}
	return messages
}
