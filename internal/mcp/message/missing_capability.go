package message

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/runlog"
)

// A MissingCapability is a capability that a question needs and the client did
// not declare.
type MissingCapability struct {
	name     string // as in "elicitation.url"
	required mcp.ClientCapabilities
}

// The capabilities that questions need.
var (
	missingForms         = &MissingCapability{"elicitation", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}}}}
	missingURLs          = &MissingCapability{"elicitation.url", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &struct{}{}}}}
	missingSampling      = &MissingCapability{"sampling", mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}}
	missingSamplingTools = &MissingCapability{"sampling.tools", mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{Tools: &struct{}{}}}}
	// MissingRoots is the lack of roots, which only the client itself can list.
	MissingRoots = &MissingCapability{"roots", func() (c mcp.ClientCapabilities) {
		_ = json.Unmarshal([]byte(`{"roots":{}}`), &c) // the type of the field has no name
		return c
	}()}
)

func (m *MissingCapability) Error() string {
	return "the MCP client can't be asked this: it did not declare the capability " + m.name
}

// HasEnded reports whether a run ended because a question could not be asked for the lack
// of the capability. It recognizes the error's text, which is all that a log keeps.
func (m *MissingCapability) HasEnded(end *runlog.Finished) bool {
	if end.Ask != nil && strings.Contains(end.Ask.Detail, m.Error()) {
		return true
	}
	return end.Status != runlog.Completed && strings.Contains(end.Error, m.Error())
}

// RPCError returns the error that MCP 2026-07-28 has for a missing capability.
func (m *MissingCapability) RPCError() *Error {
	e := Errorf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "%s", m.Error())
	e.Data = map[string]any{"requiredCapabilities": m.required}
	return e
}

// Merge returns both missing capabilities as one. m may be nil.
func (m *MissingCapability) Merge(other *MissingCapability) *MissingCapability {
	if m == nil || m.name == other.name {
		return other
	}
	both := &MissingCapability{m.name + " and " + other.name, m.required}
	if other.required.Roots != nil {
		both.required.Roots = other.required.Roots
	}
	if s := other.required.Sampling; s != nil && (both.required.Sampling == nil || s.Tools != nil) {
		both.required.Sampling = s
	}
	if e := other.required.Elicitation; e != nil {
		merged := *e
		if old := both.required.Elicitation; old != nil {
			merged.Form, merged.URL = cmp.Or(e.Form, old.Form), cmp.Or(e.URL, old.URL)
		}
		both.required.Elicitation = &merged
	}
	return both
}
