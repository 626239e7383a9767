package ask

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/generators"
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
func (r SampleResult) Blocks() ([]SampleBlock, error) { return readBlocks(r.Content) }

// Text is the text of the content's blocks, a line break between them.
func (r SampleResult) Text() string { return textOf(r.Content) }

// Message is the result as a message of the conversation that goes on.
func (r SampleResult) Message() SampleMessage { return SampleMessage{Role: r.Role, Content: r.Content} }

// PlayedModel is the model's name where a person answered in its place.
const PlayedModel = "a person"

// checkSample takes a CreateMessageResult, or {"text": …} of a person who plays
// the model, and returns the former without what MCP doesn't know.
func (q *Question) checkSample(content json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(content) || typeOf(content) != isObject {
		return nil, notObject(content)
	}
	if len(content) > maxSample {
		return nil, invalid("content", fmt.Sprintf("must be at most %d bytes; this is %d", maxSample, len(content)))
	}
	content = bytes.ToValidUTF8(content, []byte("\ufffd"))
	said, err := property(content, "content")
	if err != nil {
		return nil, err
	}
	if said == nil {
		typed, err := property(content, sampleField)
		if role, _ := property(content, "role"); err == nil && (typed != nil || role == nil) {
			return q.played(content)
		}
	}
	return checkResult(content, said)
}

// played makes a result of what a person wrote.
func (q *Question) played(content json.RawMessage) (json.RawMessage, error) {
	content, err := q.Fields.Check(content)
	if err != nil {
		return nil, err
	}
	raw, err := property(content, sampleField)
	if err != nil {
		return nil, err
	}
	text, _ := decodeText(raw)
	m := FromAssistant(TextBlock(text))
	return json.Marshal(SampleResult{Role: m.Role, Content: m.Content, Model: PlayedModel, StopReason: "endTurn"})
}

func checkResult(content, said json.RawMessage) (json.RawMessage, error) {
	var given struct {
		Role       json.RawMessage
		Model      json.RawMessage
		StopReason json.RawMessage
	}
	if err := json.Unmarshal(content, &given); err != nil {
		return nil, notObject(content)
	}
	r := SampleResult{Content: said}
	c := checker{}
	c.path = "role"
	if r.Role = Role(c.word(given.Role)); len(c.errs) == 0 && r.Role != RoleAssistant && r.Role != RoleUser {
		c.say("must be assistant")
	}
	c.path = "content"
	if said == nil {
		c.say("is required")
	} else if _, err := readBlocks(said); err != nil {
		c.say("%v", err)
	}
	c.path = "model"
	r.Model = c.word(given.Model)
	if c.path = "stopReason"; given.StopReason != nil && typeOf(given.StopReason) != "null" {
		r.StopReason = c.word(given.StopReason)
	}
	if len(c.errs) > 0 {
		return nil, &generators.InvalidError{Fields: c.errs}
	}
	return json.Marshal(r)
}

// maxWord bounds the names in a result, in characters.
const maxWord = 500

// word reads a short text that must be there.
func (c *checker) word(raw json.RawMessage) string {
	if raw == nil {
		c.say("is required")
		return ""
	}
	if got := typeOf(raw); got != isText {
		c.say("must be %s, not %s", isText, got)
		return ""
	}
	text, _ := decodeText(raw)
	if len([]rune(text)) > maxWord {
		c.say("must be at most %d characters long", maxWord)
	}
	return text
}
