// Package apps has what the MCP server needs to show runs in the chat of a client
// (MCP Apps): the tools of the view, its resource, and what they exchange. The view
// itself is rendered by a [View].
package apps

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// A View renders runs for the chat. Its methods may be called concurrently.
type View interface {
	// Document returns the HTML document of the view, and the digest in its address.
	Document() (html, digest string)
	// Render returns what has changed in a run after an ordinal; all of it if that is
	// 0. The error is the engine's.
	Render(ctx context.Context, caller generators.Caller, r Reading) (*Snapshot, error)
	// RenderInvalid returns an open question with the values that were filled in and
	// what is wrong with them.
	RenderInvalid(ctx context.Context, open engine.OpenAsk, policy Policy, base string, values url.Values, errs []generators.FieldError) (Question, error)
	// RenderingOf says how much of what a question shows the view has.
	RenderingOf(open engine.OpenAsk) runlog.Rendering
}

// A Reading says what to render of a run.
type Reading struct {
	Run    string
	After  uint64 // the ordinal of the entry that the view has seen last
	Base   string // the base URL of Beam's pages; empty if there are none
	Policy Policy
}

// A Policy says which questions may be answered in the chat.
type Policy struct {
	// Destructive allows confirmations of what can't be undone.
	Destructive bool
	// OnPage allows no question at all. The tool has a view of its own, which learns the
	// run's handle, and could otherwise answer in the person's place.
	OnPage bool
}

// A Snapshot is what the view gets of a run. HTML is made and escaped by the
// components of Beam's pages.
type Snapshot struct {
	Run   string `json:"run"`
	Tool  string `json:"tool"`
	Title string `json:"title"`
	State string `json:"state"`
	Label string `json:"label"` // the state in words
	Ended bool   `json:"ended,omitempty"`
	Seq   uint64 `json:"seq"` // of the newest entry

	Rows      []Fragment `json:"rows,omitempty"` // the rows that have changed, in order
	Dropped   int        `json:"dropped,omitempty"`
	Progress  string     `json:"progress"` // empty if there is none
	Questions []Question `json:"questions"`

	URL   string `json:"url,omitempty"`   // of the run's page
	Inbox string `json:"inbox,omitempty"` // of all open questions

	// Result is the end of the run for the model: bounded, and marked as a tool's.
	Result string `json:"result,omitempty"`
	// Told says what the model was told of the end already.
	Told Told `json:"told,omitzero"`
}

// A Fragment is a piece of the view with its id.
type Fragment struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// A Question is an open question in the view.
type Question struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// The names of the view's tools. While the view is served, no photon is offered under
// these names.
const (
	ReadTool = "beam_app_read"
	ActTool  = "beam_app_act"
)

// IsTool reports whether name is that of a tool of the view.
func IsTool(name string) bool { return name == ReadTool || name == ActTool }

// addressPrefix and addressSuffix surround the digest in the address of the view's
// document.
const (
	addressPrefix = "ui://beam/run-"
	addressSuffix = ".html"
)

// Address returns the address of the view's document.
func Address(digest string) string { return addressPrefix + digest + addressSuffix }

// IsAddress reports whether uri is the address of the view's document, or was that of an
// earlier version: a host may have kept it.
func IsAddress(uri string) bool {
	digest, isView := strings.CutPrefix(uri, addressPrefix)
	digest, isHTML := strings.CutSuffix(digest, addressSuffix)
	return isView && isHTML && digest != "" && len(digest) <= 64 && strings.Trim(digest, "0123456789abcdef") == ""
}

// toolMeta returns the _meta of a tool that the view shows, in the present form and in
// that of older hosts.
func toolMeta(address string) map[string]any {
	return map[string]any{"ui": map[string]any{"resourceUri": address}, "ui/resourceUri": address}
}

// NameView adds to the definition of a tool of Beam's that the view shows its calls.
func NameView(tool *mcp.Tool, digest string) {
	meta := toolMeta(Address(digest))
	meta["ui"].(map[string]any)["visibility"] = modelOnly
	tool.Meta = mcp.NewMetaFromMap(meta)
}

// modelOnly is the visibility of tools that no view may call.
var modelOnly = []string{"model"}

// HideFromViews adds to the definition of a tool of Beam's that no view may call it. To a
// client, the views of other servers' tools are Beam's, too.
func HideFromViews(tool *mcp.Tool) {
	tool.Meta = mcp.NewMetaFromMap(map[string]any{"ui": map[string]any{"visibility": modelOnly}})
}

// WithView is NameView for a definition that another server gave.
func WithView(definition json.RawMessage, digest string) json.RawMessage {
	return msg.WithMembers(definition, toolMeta(Address(digest)), "_meta")
}

// HasView reports whether the definition of another server's tool says anything about a
// view: it names one, or only one may call it.
func HasView(definition json.RawMessage) bool {
	var tool struct {
		Meta struct {
			Old json.RawMessage `json:"ui/resourceUri"`
			UI  json.RawMessage `json:"ui"`
		} `json:"_meta"`
	}
	return json.Unmarshal(definition, &tool) == nil && (tool.Meta.Old != nil || tool.Meta.UI != nil)
}

// Capability is what client and server declare of the extension.
func Capability() map[string]any {
	return map[string]any{msg.UIExtension: map[string]any{"mimeTypes": []string{msg.UIMediaType}}}
}

// Resource returns the entry of resources/list for the view.
func Resource(digest string) map[string]any {
	return map[string]any{
		"uri": Address(digest), "name": "run", "title": "A run of a tool", "mimeType": msg.UIMediaType,
		"description": "Shows the run of a tool in the chat, and asks its questions.",
	}
}

// Contents returns the result of resources/read for the view. It declares no origins, so
// that the host applies the strictest content security policy of the specification.
func Contents(uri, html string) map[string]any {
	return map[string]any{"contents": []any{map[string]any{
		"uri": uri, "mimeType": msg.UIMediaType, "text": html,
		"_meta": map[string]any{"ui": map[string]any{"prefersBorder": true}},
	}}}
}

// Surface is the first word of the surface that answers from the chat are recorded with.
// The name of the client follows it.
const Surface = "app"

// maxHostName is the length of a client's name in a record, in bytes.
const maxHostName = 60

// SurfaceOf returns the surface of an answer through a client, which names itself.
func SurfaceOf(client string) string {
	name := humanize.Truncate(cleantext.Line(client), maxHostName)
	if name == "" {
		name = "an unnamed client"
	}
	return Surface + " " + name
}
