package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/stdio"
)

// An outgoingMessage is a message of the proxy's own to the client.
type outgoingMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Error   *responseError  `json:"error,omitempty"`
}

type responseError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// send sends a message of the proxy's own to the client, without waiting.
func (p *runningProxy) send(m outgoingMessage) {
	m.Version = "2.0"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic(fmt.Sprintf("proxy: encoding a message: %v", err)) // the ids were decoded from valid JSON
	}
	p.writer.SendAsync(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// sendError responds to the request with the raw id.
func (p *runningProxy) sendError(id, text string) {
	p.send(outgoingMessage{ID: json.RawMessage(id), Error: &responseError{Code: mcp.INTERNAL_ERROR, Message: text}})
}

// sendCancelled cancels the backend's request with the raw id.
func (p *runningProxy) sendCancelled(id string) {
	params := map[string]any{"requestId": json.RawMessage(id), "reason": "Beam has ended"}
	p.send(outgoingMessage{Method: string(mcp.MethodNotificationCancelled), Params: params})
}

// refuseLongLine responds to a line that is too long to read, whose id is unknown.
func (p *runningProxy) refuseLongLine() {
	text := fmt.Sprintf("a message has at most %d bytes", stdio.MaxMessageSize)
	p.send(outgoingMessage{Error: &responseError{Code: mcp.INVALID_REQUEST, Message: text}})
}

// replyUnavailable responds to the requests among messages when no backend can be reached.
func (p *runningProxy) replyUnavailable(messages peekedMessages, err error) {
	p.Logger.Error("no Beam can serve the client", "err", err)
	for _, m := range messages {
		if m.isRequest() {
			p.sendError(string(m.ID), "Beam has ended, and could not be started again; its log says why")
		}
	}
}

// A peekedMessage is the part of a message that the proxy decodes.
type peekedMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  json.RawMessage `json:"error"`

	raw []byte
}

func (m *peekedMessage) isRequest() bool { return m.Method != "" && m.ID != nil }

// cancelledID returns the raw id of the request that a cancellation cancels, or "".
func (m *peekedMessage) cancelledID() string {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &params) // a malformed cancellation cancels nothing
	return string(params.ID)
}

type peekedMessages []peekedMessage

// needBackend reports whether a backend must respond: to a request, or to something that
// is not a message.
func (g peekedMessages) needBackend() bool {
	for i := range g {
		if g[i].isRequest() {
			return true
		}
	}
	return len(g) == 0
}

// peekMessages decodes a line: one message, or a batch of them. It returns nil for
// anything else, which the backend refuses.
func peekMessages(line []byte) peekedMessages {
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		parts = nil
		if json.Unmarshal(line, &parts) != nil {
			return nil
		}
	}
	messages := make(peekedMessages, len(parts))
	for i, raw := range parts {
		if json.Unmarshal(raw, &messages[i]) != nil {
			return nil
		}
		messages[i].raw = raw
	}
	return messages
}
