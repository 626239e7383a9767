package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// The request of the Chat Completions API.
type (
	chatRequest struct {
		Model               string         `json:"model"`
		Messages            []chatMessage  `json:"messages"`
		MaxTokens           int            `json:"max_tokens,omitempty"`
		MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
		Temperature         *float64       `json:"temperature,omitempty"`
		Stop                []string       `json:"stop,omitempty"`
		Tools               []chatTool     `json:"tools,omitempty"`
		ToolChoice          string         `json:"tool_choice,omitempty"`
		Stream              bool           `json:"stream"`
		StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	chatMessage struct {
		Role       string     `json:"role"`
		Content    any        `json:"content"` // a string, a list of chatPart, or null
		ToolCalls  []toolCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	chatPart struct {
		Type       string      `json:"type"`
		Text       string      `json:"text,omitempty"`
		ImageURL   *imageURL   `json:"image_url,omitempty"`
		InputAudio *inputAudio `json:"input_audio,omitempty"`
	}
	imageURL struct {
		URL string `json:"url"`
	}
	inputAudio struct {
		Data   []byte `json:"data"`
		Format string `json:"format"`
	}
	toolCall struct {
		Index    int          `json:"index,omitempty"`
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function functionCall `json:"function"`
	}
	functionCall struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	chatTool struct {
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// Encode returns the bytes that ask the model a request. They are the same for the same
// request. What the API has no place for is not in them: includeContext and metadata.
func (m *Model) Encode(r *ask.SampleRequest) ([]byte, error) {
	if why := m.unfit(needsOf(r)); why != "" {
		return nil, fmt.Errorf("the model %s can't be asked this. %s", m.Name, why)
	}
	body := chatRequest{Model: m.ID, Stream: true}
	if r.SystemPrompt != "" {
		body.Messages = append(body.Messages, chatMessage{Role: "system", Content: r.SystemPrompt})
	}
	for i, message := range r.Messages {
		encoded, err := encodeMessage(message)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		body.Messages = append(body.Messages, encoded...)
	}
	if m.LimitField == "max_tokens" {
		body.MaxTokens = r.MaxTokens
	} else {
		body.MaxCompletionTokens = r.MaxTokens
	}
	if !slices.Contains(m.Omit, "temperature") {
		body.Temperature = r.Temperature
	}
	if !slices.Contains(m.Omit, "stop") {
		body.Stop = r.StopSequences
	}
	if !slices.Contains(m.Omit, "stream_options") {
		body.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if err := body.addTools(r); err != nil {
		return nil, err
	}
	return encodeJSON(body)
}

// encodeJSON encodes v without escapes for HTML, so that people can read what is sent.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func (c *chatRequest) addTools(r *ask.SampleRequest) error {
	for _, raw := range r.Tools {
		var tool struct {
			Name        string
			Description string
			InputSchema json.RawMessage
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			return err
		}
		c.Tools = append(c.Tools, chatTool{"function", chatFunction{tool.Name, tool.Description, tool.InputSchema}})
	}
	if len(c.Tools) > 0 && r.ToolChoice != nil {
		c.ToolChoice = r.ToolChoice.Mode
	}
	return nil
}

// encodeMessage encodes one message. The results of tools become messages of their own.
func encodeMessage(m ask.SampleMessage) ([]chatMessage, error) {
	blocks, err := m.Blocks()
	if err != nil {
		return nil, fmt.Errorf("its content %w", err)
	}
	var results []chatMessage
	var calls []toolCall
	var parts []chatPart
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case askdata.BlockToolUse:
			calls = append(calls, toolCall{ID: b.ID, Type: "function", Function: functionCall{b.Name, string(b.Input)}})
		case askdata.BlockToolResult:
			results = append(results, chatMessage{Role: "tool", Content: resultText(b), ToolCallID: b.ToolUseID})
		default:
			part, err := encodePart(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 && len(calls) == 0 {
		return results, nil
	}
	return append(results, chatMessage{Role: string(m.Role), Content: contentOf(parts), ToolCalls: calls}), nil
}

// contentOf returns the parts of a message as the API takes them: a string if the only
// part is a text, which the simplest servers understand.
func contentOf(parts []chatPart) any {
	switch {
	case len(parts) == 0:
		return nil
	case len(parts) == 1 && parts[0].Type == "text":
		return parts[0].Text
	}
	return parts
}

func encodePart(b *ask.SampleBlock) (chatPart, error) {
	switch b.Type {
	case askdata.BlockText:
		return chatPart{Type: "text", Text: b.Text}, nil
	case askdata.BlockImage:
		mediaType, _, err := mime.ParseMediaType(b.MIMEType)
		if err != nil || !strings.HasPrefix(mediaType, "image/") {
			return chatPart{}, fmt.Errorf("%q is not the media type of a picture", b.MIMEType)
		}
		return chatPart{Type: "image_url", ImageURL: &imageURL{dataURL(mediaType, b.Data)}}, nil
	case askdata.BlockAudio:
		format, ok := audioFormats[strings.ToLower(b.MIMEType)]
		if !ok {
			return chatPart{}, fmt.Errorf("a sound must be audio/wav or audio/mpeg, not %q", b.MIMEType)
		}
		return chatPart{Type: "input_audio", InputAudio: &inputAudio{b.Data, format}}, nil
	}
	return chatPart{}, fmt.Errorf("the API has no place for a block of the type %q", b.Type)
}

var audioFormats = map[string]string{"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}

func dataURL(mediaType string, data []byte) string {
	raw, _ := json.Marshal(data) // a string in base64
	return "data:" + mediaType + ";base64," + strings.Trim(string(raw), `"`)
}

// resultText returns the result of a tool as text: its text blocks, or else all of its
// content as JSON.
func resultText(b *ask.SampleBlock) string {
	content := ask.SampleMessage{Role: ask.RoleUser, Content: b.Content}
	text := string(b.Content)
	if blocks, err := content.Blocks(); err == nil && !slices.ContainsFunc(blocks, func(b ask.SampleBlock) bool { return b.Type != askdata.BlockText }) {
		text = content.Text()
	}
	if b.IsError {
		text = "Error: " + cmp.Or(text, "the tool failed")
	}
	return text
}

// errNoContent is the error of a reply without any content.
var errNoContent = errors.New("the model replied without any content")
