package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
)

// A SampleResult is a model's response (MCP's CreateMessageResult).
type SampleResult struct {
	Role SampleRole `json:"role"`
	// Content is one block or a list of blocks, as received.
	// [SampleResult.Blocks] parses it.
	Content json.RawMessage `json:"content"`
	Model   string          `json:"model"` // the name of the model
	// StopReason is why the model stopped: endTurn, stopSequence, maxTokens, toolUse
	// or a provider's own reason. It is empty if the reason is unknown.
	StopReason string `json:"stopReason,omitempty"`
	// Edited means that a person changed the model's response. In JSON it is the member
	// beam/edited of _meta.
	Edited bool `json:"-"`
}

// The JSON form of a SampleResult.
type (
	sampleResult     SampleResult
	sampleResultJSON struct {
		sampleResult
		Meta *sampleMeta `json:"_meta,omitempty"`
	}
	sampleMeta struct {
		Edited bool `json:"beam/edited"`
	}
)

// MarshalJSON implements [json.Marshaler].
func (r SampleResult) MarshalJSON() ([]byte, error) {
	j := sampleResultJSON{sampleResult: sampleResult(r)}
	if r.Edited {
		j.Meta = &sampleMeta{true}
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *SampleResult) UnmarshalJSON(raw []byte) error {
	var j sampleResultJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	*r = SampleResult(j.sampleResult)
	r.Edited = j.Meta != nil && j.Meta.Edited
	return nil
}

// Blocks parses the content.
func (r SampleResult) Blocks() ([]SampleBlock, error) { return decodeBlocks(r.Content) }

// Text returns the content's text blocks, joined by line breaks.
func (r SampleResult) Text() string { return joinText(r.Content) }

// Message returns the response as a message, to continue the conversation with.
func (r SampleResult) Message() SampleMessage { return SampleMessage{Role: r.Role, Content: r.Content} }

// PersonModel is the name of the model if a person answered in its place.
const PersonModel = "a person"

// checkSample validates a CreateMessageResult, or the {"text": …} of a person who
// answers in the model's place. It returns a CreateMessageResult with only the
// members that MCP defines.
func (q *Question) checkSample(content json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(content) || rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, notObjectError(content)
	}
	if len(content) > maxSampleSize {
		return nil, invalidError(generators.At("content", fmt.Sprintf("must be at most %d bytes; this is %d", maxSampleSize, len(content))))
	}
	content = bytes.ToValidUTF8(content, []byte("\ufffd"))
	blocks, err := property(content, "content")
	if err != nil {
		return nil, err
	}
	if blocks == nil {
		typed, err := property(content, sampleField)
		if role, _ := property(content, "role"); err == nil && (typed != nil || role == nil) {
			return q.resultFromText(content)
		}
	}
	return checkSampleResult(content, blocks)
}

// resultFromText returns the text that a person wrote as a result.
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

func checkSampleResult(content, blocks json.RawMessage) (json.RawMessage, error) {
	var given struct {
		Role       json.RawMessage
		Model      json.RawMessage
		StopReason json.RawMessage
	}
	if err := json.Unmarshal(content, &given); err != nil {
		return nil, notObjectError(content)
	}
	r := SampleResult{Content: blocks}
	c := checker{}
	c.path = "role"
	if r.Role = SampleRole(c.readShortText(given.Role)); len(c.errs) == 0 && r.Role != RoleAssistant && r.Role != RoleUser {
		c.violate(rule.Const, "assistant", "")
	}
	c.path = "content"
	if blocks == nil {
		c.violate(rule.Required, "", "")
	} else if _, err := decodeBlocks(blocks); err != nil {
		c.addError("", "%v", err)
	}
	c.path = "model"
	r.Model = c.readShortText(given.Model)
	if c.path = "stopReason"; given.StopReason != nil && rawjson.TypeName(given.StopReason) != "null" {
		r.StopReason = c.readShortText(given.StopReason)
	}
	if len(c.errs) > 0 {
		return nil, invalidError(c.errs...)
	}
	r.Edited = string(rawjson.Member(rawjson.Member(content, "_meta"), "beam/edited")) == "true"
	return json.Marshal(r)
}

// maxShortText is the maximum length of a name in a result, in characters.
const maxShortText = 500

// readShortText returns a short text, or adds an error if it is missing.
func (c *checker) readShortText(raw json.RawMessage) string {
	if raw == nil {
		c.violate(rule.Required, "", "")
		return ""
	}
	if got := rawjson.SchemaType(raw); got != "string" {
		c.violate(rule.Type, "string", got)
		return ""
	}
	text, _ := rawjson.DecodeText(raw)
	if len([]rune(text)) > maxShortText {
		c.violate(rule.MaxLength, strconv.Itoa(maxShortText), "")
	}
	return text
}
