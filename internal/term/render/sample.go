package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
)

// Sample renders a request to a model with all that is sent. What a terminal can't show is
// named, and makes the rendering truncated.
func (r *Renderer) Sample(s *ask.SampleRequest) string {
	var b strings.Builder
	b.WriteString(r.Style.Paint(Bold, "Request to a model") +
		r.Style.Paint(Faint, fmt.Sprintf(" (about %s; the reply has at most %s)", humanize.Count(llm.EstimateTokens(s), "token"), humanize.Thousands(s.MaxTokens))) + "\n")
	add := func(name, text string) {
		shown := cleantext.Text(text)
		if shown != strings.ToValidUTF8(text, "\ufffd") {
			r.Truncated = true
			shown += " " + r.Style.Paint(Yellow, "[with characters that are marked]")
		}
		b.WriteString(Indent("  ", Wrap(cleantext.Line(name)+": "+shown, r.Width-2)) + "\n")
	}
	if s.SystemPrompt != "" {
		add("system", s.SystemPrompt)
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		blocks, err := m.Blocks()
		if err != nil {
			add(string(m.Role), string(m.Content))
		}
		for n := range blocks {
			add(string(m.Role), r.sampleBlock(&blocks[n]))
		}
	}
	for _, raw := range s.Tools {
		add("tool", string(raw))
	}
	if len(s.Tools) > 0 && s.ToolChoice != nil {
		add("tools are", s.ToolChoice.Mode)
	}
	if s.Temperature != nil {
		add("temperature", humanize.Number(*s.Temperature))
	}
	if len(s.StopSequences) > 0 {
		raw, _ := json.Marshal(s.StopSequences) // texts
		add("stops at", string(raw))
	}
	return b.String()
}

// sampleBlock returns a block of a message as text.
func (r *Renderer) sampleBlock(b *ask.SampleBlock) string {
	switch b.Type {
	case askdata.BlockText:
		return b.Text
	case askdata.BlockImage, askdata.BlockAudio:
		r.Truncated = true
		what := map[string]string{askdata.BlockImage: "picture", askdata.BlockAudio: "sound"}[b.Type]
		return fmt.Sprintf("[a %s, %s, %s: see the page of the question]", what, b.MIMEType, humanize.Bytes(int64(len(b.Data))))
	case askdata.BlockToolUse:
		return fmt.Sprintf("[uses the tool %s] %s", b.Name, b.Input)
	case askdata.BlockToolResult:
		return fmt.Sprintf("[result of the tool call %s] %s", b.ToolUseID, b.Content)
	}
	r.Truncated = true
	return fmt.Sprintf("[%s: see the page of the question]", b.Type)
}
