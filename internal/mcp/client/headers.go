package client

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// setStandardHeaders sets the headers that repeat what is in the body of a message of
// 2026-07-28 (MCP, Transports, Standard Headers).
func setStandardHeaders(h http.Header, version string, body []byte, x *pendingRequest) {
	if !isModern(version) {
		return
	}
	if x == nil {
		if m, invalid := message.Parse(body); invalid == nil && m.Method != "" {
			h.Set(mcp.HeaderMethod, m.Method)
		}
		return
	}
	for name, value := range mcp.StandardHeaders(version, mcp.MCPMethod(x.method), x.params) {
		h.Set(name, value)
	}
	if strings.HasPrefix(x.method, "tasks/") {
		if id, ok := mcp.EncodeHeaderValue(textMember(x.params, "taskId")); ok {
			h.Set(mcp.HeaderName, id)
		}
	}
	if x.tool == nil {
		return
	}
	tool := &mcp.Tool{RawInputSchema: rawjson.Member(x.tool, "inputSchema")}
	for name, value := range mcp.GenerateParamHeaders(tool, x.params) {
		h.Set(name, value)
	}
}

// CheckTool returns an error for a tool that a client must not offer, because its
// annotations of headers are not valid (MCP 2026-07-28, Transports, Custom Headers).
func CheckTool(definition json.RawMessage) error {
	return mcp.ValidateParamHeaderAnnotations(&mcp.Tool{RawInputSchema: rawjson.Member(definition, "inputSchema")})
}

// errorOf returns the error of a response.
func errorOf(m message.Incoming) *message.Error { return decodeError(rawjson.Member(m.Raw, "error")) }

// maxQuote is how much of what a server sent is quoted in an error, in characters. It is
// more than anybody is shown: a secret that the text repeats is masked before the text is
// cut where it may end in the middle of the secret.
const maxQuote = 4000

// shorten returns the beginning of a body as clean text.
func shorten(body []byte) string {
	return humanize.Truncate(cleantext.Line(string(body[:min(len(body), 4*maxQuote)])), maxQuote)
}
