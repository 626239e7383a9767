package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// A Reply is a model's reply, and what it used.
type Reply struct {
	Result       ask.SampleResult
	InputTokens  int
	OutputTokens int
	Estimated    bool // the endpoint didn't say how many tokens there were
}

// The events of a reply. A server that doesn't stream sends one, with message in place of
// delta.
type (
	chatChunk struct {
		Model   string          `json:"model"`
		Choices []chatChoice    `json:"choices"`
		Usage   *chatUsage      `json:"usage"`
		Error   json.RawMessage `json:"error"`
	}
	chatChoice struct {
		Index        int             `json:"index"`
		Delta        *chatDelta      `json:"delta"`
		Message      *chatDelta      `json:"message"`
		FinishReason string          `json:"finish_reason"`
		StopReason   json.RawMessage `json:"stop_reason"` // vLLM: the stop sequence
	}
	chatDelta struct {
		Content   string     `json:"content"`
		Refusal   string     `json:"refusal"`
		ToolCalls []toolCall `json:"tool_calls"`
	}
	chatUsage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	}
)

// errorText returns the text of an error in the event; empty if there is none.
func (c *chatChunk) errorText() string {
	if len(c.Error) == 0 || string(c.Error) == "null" {
		return ""
	}
	return errorMessage(c.Error)
}

// errorMessage returns the message of an error, which is an object with a message or a
// text.
func errorMessage(raw json.RawMessage) string {
	var object struct{ Message string }
	var text string
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return text
	}
	return string(raw)
}

// A replyBuilder collects the events of a reply.
type replyBuilder struct {
	text      strings.Builder
	calls     []toolCall
	model     string
	finish    string
	stoppedBy string
	usage     *chatUsage
	size      int // bytes
}

// add adds an event and returns the text that it adds. Only the first of several choices
// counts: requests ask for one.
func (b *replyBuilder) add(c *chatChunk) (text string) {
	b.model = cmp.Or(b.model, c.Model)
	if c.Usage != nil {
		b.usage = c.Usage
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		b.finish = cmp.Or(choice.FinishReason, b.finish)
		_ = json.Unmarshal(choice.StopReason, &b.stoppedBy) // it may be a token's number
		for _, d := range []*chatDelta{choice.Delta, choice.Message} {
			if d != nil {
				text += d.Content + d.Refusal
				b.addCalls(d.ToolCalls)
			}
		}
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	b.text.WriteString(text)
	b.size += len(text)
	return text
}

// maxToolCalls is the most calls of tools in a reply.
const maxToolCalls = 128

func (b *replyBuilder) addCalls(parts []toolCall) {
	for _, part := range parts {
		if part.Index < 0 || part.Index >= maxToolCalls {
			continue
		}
		for len(b.calls) <= part.Index {
			b.calls = append(b.calls, toolCall{})
		}
		call := &b.calls[part.Index]
		call.ID, call.Function.Name = cmp.Or(call.ID, part.ID), cmp.Or(call.Function.Name, part.Function.Name)
		call.Function.Arguments += part.Function.Arguments
		b.size += len(part.Function.Arguments)
	}
}

// stopReasons translates the API's reasons to MCP's. Others are passed on.
var stopReasons = map[string]string{"stop": "endTurn", "length": "maxTokens", "tool_calls": "toolUse", "function_call": "toolUse", "content_filter": "contentFilter"}

// build returns the reply, or an error if it is incomplete.
func (b *replyBuilder) build(m *Model) (*Reply, error) {
	if b.finish == "" {
		return nil, errors.New("it ended in the middle")
	}
	blocks, err := b.blocks()
	if err != nil {
		return nil, err
	}
	message := ask.FromAssistant(blocks...)
	r := &Reply{Result: ask.SampleResult{
		Role: message.Role, Content: message.Content, Model: shorten(cmp.Or(b.model, m.ID)), StopReason: shorten(cmp.Or(stopReasons[b.finish], b.finish)),
	}}
	if b.finish == "stop" && b.stoppedBy != "" {
		r.Result.StopReason = "stopSequence"
	}
	if b.usage != nil {
		r.InputTokens, r.OutputTokens = plausibleCount(b.usage.PromptTokens), plausibleCount(b.usage.CompletionTokens)
	} else {
		r.OutputTokens, r.Estimated = EstimateText(b.text.String()), true
	}
	return r, nil
}

// maxTokenCount is the most tokens that an endpoint can say it has used. Sums of such
// counts don't overflow.
const maxTokenCount = 1_000_000_000

func plausibleCount(n int) int { return min(max(n, 0), maxTokenCount) }

// shorten bounds a name that the endpoint chose.
func shorten(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200])
	}
	return s
}

func (b *replyBuilder) blocks() ([]ask.SampleBlock, error) {
	var blocks []ask.SampleBlock
	if b.text.Len() > 0 {
		blocks = append(blocks, ask.TextBlock(b.text.String()))
	}
	for i, c := range b.calls {
		input := json.RawMessage(cmp.Or(strings.TrimSpace(c.Function.Arguments), "{}"))
		if c.Function.Name == "" || !json.Valid(input) || input[0] != '{' {
			return nil, fmt.Errorf("its tool call %d has no name, or arguments that are not an object", i+1)
		}
		blocks = append(blocks, ask.SampleBlock{Type: askdata.BlockToolUse, ID: cmp.Or(c.ID, fmt.Sprintf("call-%d", i+1)), Name: c.Function.Name, Input: input})
	}
	if len(blocks) == 0 {
		if b.finish == "length" {
			return nil, errors.New("it used up its token limit before it said anything; allow more tokens")
		}
		return nil, errNoContent
	}
	return blocks, nil
}
