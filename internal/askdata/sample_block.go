package askdata

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/rawjson"
)

// The types of blocks that Beam knows. Beam passes blocks of other types through.
const (
	BlockText       = "text"
	BlockImage      = "image"
	BlockAudio      = "audio"
	BlockToolUse    = "tool_use"
	BlockToolResult = "tool_result"
)

// A SampleBlock is a part of a message; see ask.SampleBlock.
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

// maxBlocks is the maximum number of blocks of a message.
const maxBlocks = 1000

// DecodeBlocks parses one block or a list of blocks. The error completes a sentence
// that begins with the content.
func DecodeBlocks(content json.RawMessage) ([]SampleBlock, error) {
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
	kind, err := Property(raw, "type")
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
	text, err := Property(raw, "text")
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

// Property returns a member of an answer's content, or nil if it is missing.
func Property(content json.RawMessage, name string) (json.RawMessage, error) {
	if rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, fmt.Errorf("the answer to %s is not an object", name)
	}
	return rawjson.Member(content, name), nil
}
