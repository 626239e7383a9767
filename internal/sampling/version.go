package sampling

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
)

// Request returns the version of a request that is sent unless a person changes it: the one
// approved last, or else the request as it was asked.
func (s *State) Request(asked *ask.SampleRequest) *ask.SampleRequest {
	if s.Approval.Request != nil {
		return s.Approval.Request
	}
	return asked
}

// requestOf returns the request that an approval sends.
func requestOf(open engine.OpenAsk, a runlog.Approval, model *llm.Model) *ask.SampleRequest {
	if a.Request != nil {
		return limit(a.Request, model)
	}
	return limit(asking.SampleOf(open.Question), model)
}

// limit returns a request with the limit that a model has of its own, if that is lower.
func limit(r *ask.SampleRequest, m *llm.Model) *ask.SampleRequest {
	if m.MaxTokens == 0 || r.MaxTokens <= m.MaxTokens {
		return r
	}
	limited := *r
	limited.MaxTokens = m.MaxTokens
	return &limited
}

// choose returns the model that a version of a request is sent to unless a person chooses
// another one: that of the latest approval if it can take it, or else the best.
func (s *Service) choose(r *ask.SampleRequest, state *State) *llm.Model {
	return NewOffer(s.models, r, state).Choice.Model
}

func isSame(a, b *ask.SampleRequest) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Changes returns what differs in a version of a request from what was asked, of all that
// is sent; nil if nothing does.
func Changes(asked, version *ask.SampleRequest) *generators.Artifact {
	before, after := describeSent(asked), describeSent(version)
	if before == after {
		return nil
	}
	diff, _ := generators.Diff("What was changed", before, after).(*generators.Artifact)
	return diff
}

// describeSent returns all of a request that is sent, as lines of text.
func describeSent(r *ask.SampleRequest) string {
	var b strings.Builder
	add := func(name, text string) { fmt.Fprintf(&b, "%s:\n%s\n\n", name, text) }
	if r.SystemPrompt != "" {
		add("System prompt", r.SystemPrompt)
	}
	for _, m := range r.Messages {
		add(map[ask.SampleRole]string{ask.RoleUser: "User", ask.RoleAssistant: "Model"}[m.Role], describeContent(m))
	}
	for _, tool := range r.Tools {
		add("Tool", string(tool))
	}
	if len(r.Tools) > 0 && r.ToolChoice != nil && r.ToolChoice.Mode != "" {
		fmt.Fprintf(&b, "Tool choice: %s\n", r.ToolChoice.Mode)
	}
	if r.Temperature != nil {
		fmt.Fprintf(&b, "Temperature: %s\n", humanize.Number(*r.Temperature))
	}
	for _, text := range r.StopSequences {
		fmt.Fprintf(&b, "Stops at: %q\n", text)
	}
	fmt.Fprintf(&b, "Longest reply: %d tokens\n", r.MaxTokens)
	return b.String()
}

func describeContent(m ask.SampleMessage) string {
	blocks, err := m.Blocks()
	if err != nil {
		return string(m.Content)
	}
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		switch b.Type {
		case askdata.BlockText:
			parts[i] = b.Text
		case askdata.BlockImage, askdata.BlockAudio:
			parts[i] = fmt.Sprintf("[%s, %s, %s, SHA-256 %x]", b.Type, b.MIMEType, humanize.Bytes(int64(len(b.Data))), sha256.Sum256(b.Data))
		case askdata.BlockToolUse:
			parts[i] = fmt.Sprintf("[calls %s: %s]", b.Name, b.Input)
		case askdata.BlockToolResult:
			parts[i] = fmt.Sprintf("[result of a tool: %s]", b.Content)
		default:
			parts[i] = fmt.Sprintf("[%s]", b.Type)
		}
	}
	return strings.Join(parts, "\n")
}
