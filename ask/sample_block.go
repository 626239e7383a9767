package ask

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
)

// A SampleRole is the author of a message.
type SampleRole string

// The roles of a conversation.
const (
	RoleUser      SampleRole = "user"
	RoleAssistant SampleRole = "assistant"
)

// A SampleMessage is one message of a conversation with a model (MCP's
// SamplingMessage).
type SampleMessage struct {
	Role SampleRole `json:"role"`
	// Content is one block or a list of blocks, as received.
	// [SampleMessage.Blocks] parses it.
	Content json.RawMessage `json:"content"`
}

// A SampleBlock is a part of a message (MCP's TextContent, ImageContent,
// AudioContent, ToolUseContent and ToolResultContent). The type determines which
// fields are used: it is text, image, audio, tool_use or tool_result, or one that Beam
// passes through.
type SampleBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     []byte `json:"data"` // of an image or audio; base64 in JSON
	MIMEType string `json:"mimeType"`
	// ID, Name and Input describe the use of a tool. ToolUseID is the ID of the use
	// whose result is in Content.
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"toolUseId"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"isError"`
}

// TextBlock returns a block of text.
func TextBlock(text string) SampleBlock { return SampleBlock{Type: askdata.BlockText, Text: text} }

// ImageBlock returns a picture of a media type such as image/png.
func ImageBlock(data []byte, mediaType string) SampleBlock {
	return SampleBlock{Type: askdata.BlockImage, Data: data, MIMEType: mediaType}
}

// AudioBlock returns a sound of a media type such as audio/wav.
func AudioBlock(data []byte, mediaType string) SampleBlock {
	return SampleBlock{Type: askdata.BlockAudio, Data: data, MIMEType: mediaType}
}

// FromUser returns a message of the user. Its content is the block itself if there
// is only one, which every version of MCP supports, and otherwise a list, which
// requires MCP 2025-11-25.
func FromUser(blocks ...SampleBlock) SampleMessage { return newMessage(RoleUser, blocks) }

// FromAssistant returns an earlier message of the model; see [FromUser].
func FromAssistant(blocks ...SampleBlock) SampleMessage { return newMessage(RoleAssistant, blocks) }

func newMessage(role SampleRole, blocks []SampleBlock) SampleMessage {
	var content any = blocks
	if len(blocks) == 1 {
		content = blocks[0]
	}
	raw, err := json.Marshal(content)
	if err != nil { // Input or Content is not valid JSON
		raw = nil // which validating the request rejects
	}
	return SampleMessage{Role: role, Content: raw}
}

// MarshalJSON writes the fields that the block's type uses.
func (b SampleBlock) MarshalJSON() ([]byte, error) {
	fields := map[string]any{"type": b.Type}
	switch b.Type {
	case askdata.BlockText:
		fields["text"] = b.Text
	case askdata.BlockImage, askdata.BlockAudio:
		fields["data"], fields["mimeType"] = append([]byte{}, b.Data...), b.MIMEType
	case askdata.BlockToolUse:
		fields["id"], fields["name"], fields["input"] = b.ID, b.Name, b.Input
	case askdata.BlockToolResult:
		fields["toolUseId"], fields["content"] = b.ToolUseID, b.Content
		if b.IsError {
			fields["isError"] = true
		}
	}
	return json.Marshal(fields)
}

// Blocks parses the message's content.
func (m SampleMessage) Blocks() ([]SampleBlock, error) { return decodeBlocks(m.Content) }

// Text returns the message's text blocks, joined by line breaks.
func (m SampleMessage) Text() string { return joinText(m.Content) }

func decodeBlocks(content json.RawMessage) ([]SampleBlock, error) {
	decoded, err := askdata.DecodeBlocks(content)
	if err != nil {
		return nil, err
	}
	blocks := make([]SampleBlock, len(decoded))
	for i, b := range decoded {
		blocks[i] = SampleBlock(b)
	}
	return blocks, nil
}

func joinText(content json.RawMessage) string {
	blocks, err := decodeBlocks(content)
	if err != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == askdata.BlockText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
