package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
)

// A message is one JSON-RPC 2.0 message as it came in: a request has an id and
// a method, a notification a method, a response an id and a result or an error.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *rpcError       `json:"error"`

	raw json.RawMessage // as it came
}

func (m *message) isResponse() bool     { return m.Method == "" && m.ID != nil }
func (m *message) isRequest() bool      { return m.Method != "" && m.ID != nil }
func (m *message) isNotification() bool { return m.Method != "" && m.ID == nil }

// An rpcError is the error of a JSON-RPC response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

func rpcErrorf(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// maxIDSize bounds an id, in bytes of its JSON: it is kept while its request is
// under way.
const maxIDSize = 1 << 10

// parseMessage reads one message. A message that is none leaves what can be told of
// its id in the returned message, for the error response.
func parseMessage(raw []byte) (message, *rpcError) {
	m := message{raw: raw}
	if err := json.Unmarshal(raw, &m); err != nil {
		if !json.Valid(raw) {
			return message{raw: raw}, rpcErrorf(mcp.PARSE_ERROR, "this is no JSON")
		}
		return message{raw: raw}, rpcErrorf(mcp.INVALID_REQUEST, "this is no JSON-RPC message: %s", describeJSONError(err))
	}
	if bytes.Equal(m.ID, jsonNull) {
		m.ID = nil
		if m.Method != "" && hasNullID(raw) {
			return message{raw: raw}, rpcErrorf(mcp.INVALID_REQUEST, "the id of a request is a string or an integer, not null")
		}
	}
	if m.ID != nil && !isRequestID(m.ID) {
		return message{raw: raw}, rpcErrorf(mcp.INVALID_REQUEST, "the id of a request is a string or an integer of at most %d bytes", maxIDSize)
	}
	switch {
	case m.Version != "2.0":
		m.Method = "" // whatever it is, it is no notification
		return m, rpcErrorf(mcp.INVALID_REQUEST, `jsonrpc must be "2.0"`)
	case m.Method == "" && m.ID == nil:
		return m, rpcErrorf(mcp.INVALID_REQUEST, "a message has a method, or an id with a result or an error")
	case m.Method == "" && (m.Result == nil) == (m.Error == nil):
		return m, rpcErrorf(mcp.INVALID_REQUEST, "a response has either a result or an error")
	case len(m.Params) > 0 && m.Params[0] != '{' && !bytes.Equal(m.Params, jsonNull):
		return m, rpcErrorf(mcp.INVALID_PARAMS, "params must be an object")
	}
	return m, nil
}

var jsonNull = json.RawMessage("null")

// hasNullID tells an id of null from no id, which encoding/json does not.
func hasNullID(raw []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	_, there := members["id"]
	return there
}

// isRequestID tells whether raw is an id: a string, or a number without a fraction.
func isRequestID(raw json.RawMessage) bool {
	if len(raw) > maxIDSize {
		return false
	}
	return raw[0] == '"' || raw[0] != '{' && raw[0] != '[' && !bytes.ContainsAny(raw, ".eEtfn")
}

// describeJSONError is what a decoding error says, without Go's names.
func describeJSONError(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok && e.Field != "" {
		return fmt.Sprintf("%s is not to be a %s", strconv.Quote(e.Field), e.Value)
	}
	return "it has the wrong shape"
}

// outgoingMessage is a message that Beam sends.
type outgoingMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

func encodeMessage(m outgoingMessage) []byte {
	m.Version = "2.0"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic(fmt.Sprintf("mcp: encoding a message: %v", err)) // our own types and raw JSON that was valid
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func encodeNotification(method string, params any) []byte {
	return encodeMessage(outgoingMessage{Method: method, Params: params})
}

func encodeResult(id json.RawMessage, result any) []byte {
	return encodeMessage(outgoingMessage{ID: id, Result: result})
}

// encodeError is an error response. It has no id if none could be read.
func encodeError(id json.RawMessage, err *rpcError) []byte {
	return encodeMessage(outgoingMessage{ID: id, Error: err})
}
