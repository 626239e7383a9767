package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A SampleRequest is what a model is asked. Its JSON is the params of MCP's
// sampling/createMessage (2025-11-25, Client Features, Sampling).
type SampleRequest struct {
	Messages         []SampleMessage   `json:"messages"`
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitempty"`
	SystemPrompt     string            `json:"systemPrompt,omitempty"`
	// IncludeContext is none, thisServer or allServers; the client may ignore it.
	IncludeContext string   `json:"includeContext,omitempty"`
	Temperature    *float64 `json:"temperature,omitempty"`
	// MaxTokens is the most that the model may say, in tokens; it is required.
	MaxTokens     int             `json:"maxTokens"`
	StopSequences []string        `json:"stopSequences,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"` // an object for the model's provider
	// Tools are the tools that the model may use, each as MCP's Tool. Only a
	// client that declared sampling.tools can be asked with them.
	Tools      []json.RawMessage `json:"tools,omitempty"`
	ToolChoice *ToolChoice       `json:"toolChoice,omitempty"`
}

// ModelPreferences are what matters in the choice of a model. Priorities are 0
// to 1.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitempty"`
	CostPriority         *float64    `json:"costPriority,omitempty"`
	SpeedPriority        *float64    `json:"speedPriority,omitempty"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitempty"`
}

// A ModelHint is a part of a model's name.
type ModelHint struct {
	Name string `json:"name,omitempty"`
}

// ToolChoice is whether the model uses tools: auto, required or none.
type ToolChoice struct {
	Mode string `json:"mode,omitempty"`
}

// What a request may hold. Pictures are a third larger as base64.
const (
	maxSampleSize     = 8 << 20 // bytes of JSON, of a request and of a result
	maxSampleMessages = 1000
	maxSampleTools    = 500
	maxStopSequences  = 100
	maxHints          = 100
)

// sampleField is where a person who plays the model writes; maxPlayed is how
// much, in characters.
const (
	sampleField    = "text"
	maxTypedAnswer = 200_000
)

// Sample asks a model. Who runs the model is up to the surface: an MCP client
// that offers sampling, or a person who plays the model in the browser. The
// error is one of [Prompt.Ask]; ErrUnsupported where there is neither.
func Sample(yield generators.Yield, key string, request SampleRequest, opts ...Option) (SampleResult, error) {
	return ForSample(key, request, opts...).Ask(yield)
}

// ForSample is the prompt of [Sample].
func ForSample(key string, request SampleRequest, opts ...Option) *Prompt[SampleResult] {
	p := &Prompt[SampleResult]{key: key, question: &Question{
		Kind: KindSample, Message: request.summary(), Sample: &request,
		Fields: Fields{{
			Name: sampleField, Title: "Answer", Description: "What the model would say.",
			Type: "string", Format: FormatLong, Required: true, MaxLength: maxTypedAnswer,
		}},
	}}
	p.err = p.applyOptions(opts)
	p.decode = func(r generators.Reply) (SampleResult, error) { return decodeAs[SampleResult](r.Value) }
	return p
}

// summary says in short what the model is asked.
func (s *SampleRequest) summary() string {
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if m := s.Messages[i]; m.Role == RoleUser {
			if text := strings.Join(strings.Fields(m.Text()), " "); text != "" {
				return "A model is asked: " + truncate(text, 200)
			}
		}
	}
	return "A model is asked to go on with a conversation."
}

// validate refuses a request that no client could take.
func (s *SampleRequest) validate() error {
	switch {
	case len(s.Messages) == 0 || len(s.Messages) > maxSampleMessages:
		return fmt.Errorf("a model needs 1 to %d messages; these are %d", maxSampleMessages, len(s.Messages))
	case s.MaxTokens <= 0:
		return errors.New("a model needs MaxTokens, the most that it may say")
	case len(s.StopSequences) > maxStopSequences:
		return fmt.Errorf("there are %d stop sequences; %d are the most", len(s.StopSequences), maxStopSequences)
	case !isFinite(s.Temperature):
		return errors.New("the temperature is no number")
	case s.Metadata != nil && rawjson.TypeName(s.Metadata) != rawjson.ObjectType:
		return errors.New("the metadata is no object")
	}
	if err := checkOneOf("includeContext", s.IncludeContext, "none", "thisServer", "allServers"); err != nil {
		return err
	}
	for i, m := range s.Messages {
		if err := m.validate(); err != nil {
			return fmt.Errorf("message %d %w", i+1, err)
		}
	}
	if err := s.ModelPreferences.validate(); err != nil {
		return err
	}
	if err := s.validateTools(); err != nil {
		return err
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if len(raw) > maxSampleSize {
		return fmt.Errorf("the request has %d bytes; %d are the most", len(raw), maxSampleSize)
	}
	return nil
}

func (m SampleMessage) validate() error {
	if m.Role != RoleUser && m.Role != RoleAssistant {
		return fmt.Errorf("has the role %q, which is neither user nor assistant", m.Role)
	}
	if _, err := m.Blocks(); err != nil {
		return fmt.Errorf("has content that %w", err)
	}
	return nil
}

func (p *ModelPreferences) validate() error {
	if p == nil {
		return nil
	}
	if len(p.Hints) > maxHints {
		return fmt.Errorf("there are %d hints of a model; %d are the most", len(p.Hints), maxHints)
	}
	for _, priority := range []*float64{p.CostPriority, p.SpeedPriority, p.IntelligencePriority} {
		if priority != nil && (math.IsNaN(*priority) || *priority < 0 || *priority > 1) {
			return fmt.Errorf("a priority is %v; it must be 0 to 1", *priority)
		}
	}
	return nil
}

func (s *SampleRequest) validateTools() error {
	if len(s.Tools) > maxSampleTools {
		return fmt.Errorf("there are %d tools; %d are the most", len(s.Tools), maxSampleTools)
	}
	for i, raw := range s.Tools {
		var tool struct {
			Name        string
			InputSchema json.RawMessage
		}
		if json.Unmarshal(raw, &tool) != nil || tool.Name == "" || rawjson.TypeName(tool.InputSchema) != rawjson.ObjectType {
			return fmt.Errorf("tool %d needs a name and an inputSchema", i+1)
		}
	}
	if s.ToolChoice == nil {
		return nil
	}
	return checkOneOf("toolChoice", s.ToolChoice.Mode, "auto", "required", "none")
}

// checkOneOf refuses a value that is neither empty nor among those.
func checkOneOf(what, value string, those ...string) error {
	if value == "" {
		return nil
	}
	for _, v := range those {
		if v == value {
			return nil
		}
	}
	return fmt.Errorf("%s is %q; it must be one of %s", what, value, strings.Join(those, ", "))
}
