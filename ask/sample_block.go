package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/internal/rawjson"
)

// A SampleRole is the author of a message.
type SampleRole string

// The roles of a conversation.
const (
	RoleUser      SampleRole = "user"
	RoleAssistant SampleRole = "assistant"
)

// The types of blocks that Beam knows. Beam passes blocks of other types through.
const (
	BlockText       = "text"
	BlockImage      = "image"
	BlockAudio      = "audio"
	BlockToolUse    = "tool_use"
	BlockToolResult = "tool_result"
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
// fields are used.
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
func TextBlock(text string) SampleBlock { return SampleBlock{Type: BlockText, Text: text} }

// ImageBlock returns a picture of a media type such as image/png.
func ImageBlock(data []byte, mediaType string) SampleBlock {
	return SampleBlock{Type: BlockImage, Data: data, MIMEType: mediaType}
}

// AudioBlock returns a sound of a media type such as audio/wav.
func AudioBlock(data []byte, mediaType string) SampleBlock {
	return SampleBlock{Type: BlockAudio, Data: data, MIMEType: mediaType}
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
	case BlockText:
		fields["text"] = b.Text
	case BlockImage, BlockAudio:
		fields["data"], fields["mimeType"] = append([]byte{}, b.Data...), b.MIMEType
	case BlockToolUse:
		fields["id"], fields["name"], fields["input"] = b.ID, b.Name, b.Input
	case BlockToolResult:
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

// maxBlocks is the maximum number of blocks of a message.
const maxBlocks = 1000

// decodeBlocks parses one block or a list of blocks. The error completes a sentence
// that begins with the content.
func decodeBlocks(content json.RawMessage) ([]SampleBlock, error) {
	var raws []json.RawMessage
	switch rawjson.TypeName(content) {
	case rawjson.ObjectType:
		raws = []json.RawMessage{content}
	case rawjson.ListType:
		if json.Unmarshal(content, &raws) != nil {
			return nil, errors.New("must be a block or a list of blocks")
		}
	default:
		return nil, fmt.Errorf("must be a block or a list of blocks, not %s", rawjson.TypeName(content))
	}
	if len(raws) == 0 || len(raws) > maxBlocks {
		return nil, fmt.Errorf("must have 1 to %d blocks; it has %d", maxBlocks, len(raws))
	}
	blocks := make([]SampleBlock, len(raws))
	for i, raw := range raws {
		if err := blocks[i].decode(raw); err != nil {
			return nil, fmt.Errorf("has a block %d that %w", i+1, err)
		}
	}
	return blocks, nil
}

// decode parses a block and checks that it has what its type requires. The error
// completes a sentence that begins with the block.
func (b *SampleBlock) decode(raw json.RawMessage) error {
	if rawjson.TypeName(raw) != rawjson.ObjectType {
		return errors.New("is not an object")
	}
	kind, err := property(raw, "type")
	if err != nil || rawjson.TypeName(kind) != rawjson.TextType {
		return errors.New("has no type")
	}
	switch b.Type, _ = rawjson.DecodeText(kind); b.Type {
	case BlockText, BlockImage, BlockAudio, BlockToolUse, BlockToolResult:
	default: // perhaps of a later version of MCP
		return nil
	}
	if err := json.Unmarshal(raw, b); err != nil {
		return fmt.Errorf("is not a valid %s block", b.Type)
	}
	text, err := property(raw, "text")
	switch {
	case err != nil:
		return err
	case b.Type == BlockText && rawjson.TypeName(text) != rawjson.TextType:
		return errors.New("has no text")
	case (b.Type == BlockImage || b.Type == BlockAudio) && (len(b.Data) == 0 || b.MIMEType == ""):
		return errors.New("needs data and a mimeType")
	case b.Type == BlockToolUse && (b.ID == "" || b.Name == "" || rawjson.TypeName(b.Input) != rawjson.ObjectType):
		return errors.New("needs an id, a name and an input")
	case b.Type == BlockToolResult && (b.ToolUseID == "" || rawjson.TypeName(b.Content) != rawjson.ListType):
		return errors.New("needs a toolUseId and a list as content")
	}
	return nil
}

func joinText(content json.RawMessage) string {
	blocks, err := decodeBlocks(content)
	if err != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == BlockText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
