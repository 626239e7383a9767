package askdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
)

// A Sample is a request to a model: an *ask.SampleRequest.
type Sample struct{ Request any }

// MarshalJSON implements [json.Marshaler].
func (s *Sample) MarshalJSON() ([]byte, error) { return json.Marshal(s.Request) }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Sample) UnmarshalJSON(raw []byte) error {
	s.Request = NewSampleRequest()
	return json.Unmarshal(raw, s.Request)
}

// MaxSampleSize is the maximum size of a request and of a result, in bytes of JSON. Base64
// makes pictures a third larger.
const MaxSampleSize = 8 << 20

// SampleField is the name of the field in which a person answers in the model's place.
const SampleField = "text"

// PersonModel is that of package ask, which documents it.
const PersonModel = "a person"

// sampleResult is MCP's CreateMessageResult; see ask.SampleResult.
type sampleResult struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Model      string          `json:"model"`
	StopReason string          `json:"stopReason,omitempty"`
	Meta       *sampleMeta     `json:"_meta,omitempty"`
}

type sampleMeta struct {
	Edited bool `json:"beam/edited"`
}

// checkSample validates a CreateMessageResult, or the {"text": …} of a person who
// answers in the model's place. It returns a CreateMessageResult with only the
// members that MCP defines.
func (q *Question) checkSample(content json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(content) || rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, notObjectError(content)
	}
	if len(content) > MaxSampleSize {
		return nil, invalidError(driver.At("content", fmt.Sprintf("must be at most %d bytes; this is %d", MaxSampleSize, len(content))))
	}
	content = bytes.ToValidUTF8(content, []byte("\ufffd"))
	blocks, err := Property(content, "content")
	if err != nil {
		return nil, err
	}
	if blocks == nil {
		typed, err := Property(content, SampleField)
		if role, _ := Property(content, "role"); err == nil && (typed != nil || role == nil) {
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
	raw, err := Property(content, SampleField)
	if err != nil {
		return nil, err
	}
	text, _ := rawjson.DecodeText(raw)
	block, err := json.Marshal(map[string]string{"type": BlockText, "text": text})
	if err != nil {
		return nil, err
	}
	return json.Marshal(sampleResult{Role: "assistant", Content: block, Model: PersonModel, StopReason: "endTurn"})
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
	r := sampleResult{Content: blocks}
	c := checker{}
	c.path = "role"
	if r.Role = c.readShortText(given.Role); len(c.errs) == 0 && r.Role != "assistant" && r.Role != "user" {
		c.violate(rule.Const, "assistant", "")
	}
	c.path = "content"
	if blocks == nil {
		c.violate(rule.Required, "", "")
	} else if _, err := DecodeBlocks(blocks); err != nil {
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
	if string(rawjson.Member(rawjson.Member(content, "_meta"), "beam/edited")) == "true" {
		r.Meta = &sampleMeta{true}
	}
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
