package ask

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/askdata"
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
const PersonModel = askdata.PersonModel
