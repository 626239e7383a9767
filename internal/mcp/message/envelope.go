package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
)

// An Incoming is a JSON-RPC 2.0 message that Beam received: a request has an id
// and a method, a notification has a method, and a response has an id and a
// result or an error.
type Incoming struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *Error          `json:"error"`

	Raw json.RawMessage `json:"-"` // the message as it was received
}

// IsResponse reports whether m is a response.
func (m *Incoming) IsResponse() bool { return m.Method == "" && m.ID != nil }

// IsRequest reports whether m is a request.
func (m *Incoming) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether m is a notification.
func (m *Incoming) IsNotification() bool { return m.Method != "" && m.ID == nil }

// An Error is the error of a JSON-RPC response.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf returns an error with a code of JSON-RPC or MCP.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// MaxSize is the maximum size of a message that Beam receives, in bytes.
const MaxSize = 16 << 20

// MaxIDSize is the largest id that Parse accepts, in bytes of its JSON. An id is
// kept for as long as its request is in flight.
const MaxIDSize = 1 << 10

// Null is the JSON value null.
var Null = json.RawMessage("null")

// Parse parses and checks one message. If it fails, the returned message holds
// the id, if that could be read, for the error response.
func Parse(raw []byte) (Incoming, *Error) {
	m := Incoming{Raw: raw}
	if err := json.Unmarshal(raw, &m); err != nil {
		if !json.Valid(raw) {
			return Incoming{Raw: raw}, Errorf(mcp.PARSE_ERROR, "the message is not valid JSON")
		}
		return Incoming{Raw: raw}, Errorf(mcp.INVALID_REQUEST, "the message is not a JSON-RPC message: %s", DescribeJSONError(err))
	}
	if bytes.Equal(m.ID, Null) {
		m.ID = nil
		if m.Method != "" && hasNullID(raw) {
			return Incoming{Raw: raw}, Errorf(mcp.INVALID_REQUEST, "the id of a request must be a string or an integer, not null")
		}
	}
	if m.ID != nil && !isID(m.ID) {
		return Incoming{Raw: raw}, Errorf(mcp.INVALID_REQUEST, "the id of a request must be a string or an integer of at most %d bytes", MaxIDSize)
	}
	return checkEnvelope(m)
}

// checkEnvelope checks that m is a request, a notification or a response.
func checkEnvelope(m Incoming) (Incoming, *Error) {
	switch {
	case m.Version != "2.0":
		m.Method = "" // so that it does not count as a notification, which gets no error response
		return m, Errorf(mcp.INVALID_REQUEST, `jsonrpc must be "2.0"`)
	case m.Method == "" && m.ID == nil:
		return m, Errorf(mcp.INVALID_REQUEST, "a message must have a method, or an id with a result or an error")
	case m.Method == "" && (m.Result == nil) == (m.Error == nil):
		return m, Errorf(mcp.INVALID_REQUEST, "a response must have either a result or an error")
	case len(m.Params) > 0 && m.Params[0] != '{' && !bytes.Equal(m.Params, Null):
		return m, Errorf(mcp.INVALID_PARAMS, "params must be an object")
	}
	return m, nil
}

// hasNullID reports whether the message has the id null, which encoding/json
// does not distinguish from no id.
func hasNullID(raw []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	_, ok := members["id"]
	return ok
}

// isID reports whether raw is an id: a string, or a number without a fraction.
func isID(raw json.RawMessage) bool {
	if len(raw) > MaxIDSize {
		return false
	}
	return raw[0] == '"' || raw[0] != '{' && raw[0] != '[' && !bytes.ContainsAny(raw, ".eEtfn")
}

// IsProgressToken reports whether raw is a progress token: a string or a number.
func IsProgressToken(raw json.RawMessage) bool {
	return len(raw) <= MaxIDSize && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// DescribeJSONError describes a decoding error without Go's type names.
func DescribeJSONError(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok && e.Field != "" {
		return fmt.Sprintf("%s must not be a %s", strconv.Quote(e.Field), e.Value)
	}
	return "it has the wrong shape"
}

// ErrClientGone is returned when a message can't be sent to the client any more.
var ErrClientGone = errors.New("the client is gone")

// An Outgoing is a JSON-RPC 2.0 message that Beam sends.
type Outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Encode returns m as JSON on one line. It panics if m has no JSON form.
func Encode(m Outgoing) []byte {
	m.Version = "2.0"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic(fmt.Sprintf("message: encoding: %v", err)) // our own types, and raw JSON that was valid
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// EncodeNotification encodes a notification.
func EncodeNotification(method string, params any) []byte {
	return Encode(Outgoing{Method: method, Params: params})
}

// SubscriptionMeta returns the _meta of a notification that belongs to the subscription
// with an id; nil if it belongs to none.
func SubscriptionMeta(id json.RawMessage) map[string]any {
	if id == nil {
		return nil
	}
	return map[string]any{mcp.MetaKeySubscriptionID: id}
}

// EncodeResult encodes the response to a request.
func EncodeResult(id json.RawMessage, result any) []byte {
	return Encode(Outgoing{ID: id, Result: result})
}

// EncodeError encodes an error response. It has no id if none could be read.
func EncodeError(id json.RawMessage, err *Error) []byte {
	return Encode(Outgoing{ID: id, Error: err})
}

// StringID returns s as an id.
func StringID(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return raw
}
