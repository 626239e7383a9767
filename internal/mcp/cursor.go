package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// checkCursor refuses a cursor that no list has returned (MCP, Pagination, Error Handling).
// The cursors of mcp-go are names in base64; it accepts any base64 and takes a cursor of
// another type for a malformed request.
func checkCursor(m msg.Incoming) *msg.Error {
	if !strings.HasSuffix(m.Method, "/list") {
		return nil
	}
	var p struct {
		Cursor json.RawMessage `json:"cursor"`
	}
	if json.Unmarshal(m.Params, &p) != nil || p.Cursor == nil || bytes.Equal(p.Cursor, msg.Null) {
		return nil
	}
	var cursor string
	if json.Unmarshal(p.Cursor, &cursor) == nil && isCursor(cursor) {
		return nil
	}
	return msg.Errorf(mcp.INVALID_PARAMS, "cursor is not from this list: start without one")
}

// isCursor reports whether mcp-go may have returned a cursor. The empty cursor means none.
func isCursor(cursor string) bool {
	name, err := base64.StdEncoding.Strict().DecodeString(cursor)
	return err == nil && utf8.Valid(name) && !bytes.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
