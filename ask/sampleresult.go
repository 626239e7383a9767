package ask

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A SampleResult is what a model said (MCP's CreateMessageResult).
type SampleResult struct {
	Role Role `json:"role"`
	// Content is one block or a list of them, as it came. [SampleResult.Blocks]
	// reads it.
	Content json.RawMessage `json:"content"`
	Model   string          `json:"model"` // its name
	// StopReason is why the model ended: endTurn, stopSequence, maxTokens,
	// toolUse, another word, or nothing if that is not known.
	StopReason string `json:"stopReason,omitempty"`
}

// Blocks reads the content.
func (r SampleResult) Blocks() ([]SampleBlock, error) { return decodeBlocks(r.Content) }

// Text is the text of the content's blocks, a line break between them.
func (r SampleResult) Text() string { return joinText(r.Content) }

// Message is the result as a message of the conversation that goes on.
func (r SampleResult) Message() SampleMessage { return SampleMessage{Role: r.Role, Content: r.Content} }

// PersonModel is the model's name where a person answered in its place.
const PersonModel = "a person"

// checkSample takes a CreateMessageResult, or {"text": …} of a person who plays
// the model, and returns the former without what MCP doesn't know.
func (q *Question) checkSample(content json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(content) || rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, notObjectError(content)
	}
	if len(content) > maxSampleSize {
		return nil, invalidError("content", fmt.Sprintf("must be at most %d bytes; this is %d", maxSampleSize, len(content)))
	}
	content = bytes.ToValidUTF8(content, []byte("\ufffd"))
	said, err := property(content, "content")
	if err != nil {
		return nil, err
	}
	if said == nil {
		typed, err := property(content, sampleField)
		if role, _ := property(content, "role"); err == nil && (typed != nil || role == nil) {
			return q.resultFromText(content)
		}
	}
	return checkSampleResult(content, said)
}

// resultFromText makes a result of what a person wrote.
func (q *Question) resultFromText(content json.RawMessage) (json.RawMessage, error) {
	content, err := q.Fields.Check(content)
	if err != nil {
		return nil, err
	}
	raw, err := property(content, sampleField)
	if err != nil {
		return nil, err
	}
	text, _ := rawjson.DecodeText(raw)
	m := FromAssistant(TextBlock(text))
	return json.Marshal(SampleResult{Role: m.Role, Content: m.Content, Model: PersonModel, StopReason: "endTurn"})
}

func checkSampleResult(content, said json.RawMessage) (json.RawMessage, error) {
	var given struct {
		Role       json.RawMessage
		Model      json.RawMessage
		StopReason json.RawMessage
	}
	if err := json.Unmarshal(content, &given); err != nil {
		return nil, notObjectError(content)
	}
	r := SampleResult{Content: said}
	c := checker{}
	c.path = "role"
	if r.Role = Role(c.readShortText(given.Role)); len(c.errs) == 0 && r.Role != RoleAssistant && r.Role != RoleUser {
		c.addError("must be assistant")
	}
	c.path = "content"
	if said == nil {
		c.addError("is required")
	} else if _, err := decodeBlocks(said); err != nil {
		c.addError("%v", err)
	}
	c.path = "model"
	r.Model = c.readShortText(given.Model)
	if c.path = "stopReason"; given.StopReason != nil && rawjson.TypeName(given.StopReason) != "null" {
		r.StopReason = c.readShortText(given.StopReason)
	}
	if len(c.errs) > 0 {
		return nil, &generators.InvalidError{Fields: c.errs}
	}
	return json.Marshal(r)
}

// maxShortText bounds the names in a result, in characters.
const maxShortText = 500

// readShortText reads a short text that must be there.
func (c *checker) readShortText(raw json.RawMessage) string {
	if raw == nil {
		c.addError("is required")
		return ""
	}
	if got := rawjson.TypeName(raw); got != rawjson.TextType {
		c.addError("must be %s, not %s", rawjson.TextType, got)
		return ""
	}
	text, _ := rawjson.DecodeText(raw)
	if len([]rune(text)) > maxShortText {
		c.addError("must be at most %d characters long", maxShortText)
	}
	return text
}
