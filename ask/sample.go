package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A SampleRequest is a request to a model. Its JSON form is the params of MCP's
// sampling/createMessage (2025-11-25, Client Features, Sampling).
type SampleRequest struct {
	Messages         []SampleMessage   `json:"messages"`
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitempty"`
	SystemPrompt     string            `json:"systemPrompt,omitempty"`
	// IncludeContext is none, thisServer or allServers; the client may ignore it.
	IncludeContext string   `json:"includeContext,omitempty"`
	Temperature    *float64 `json:"temperature,omitempty"`
	// MaxTokens is the maximum length of the response in tokens. It is required.
	MaxTokens     int             `json:"maxTokens"`
	StopSequences []string        `json:"stopSequences,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"` // an object that is passed to the model's provider
	// Tools are the tools that the model may use, each an MCP Tool. Only clients
	// that declared sampling.tools accept a request with tools.
	Tools      []json.RawMessage `json:"tools,omitempty"`
	ToolChoice *ToolChoice       `json:"toolChoice,omitempty"`
}

// ModelPreferences guide the choice of a model. Priorities are 0 to 1.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitempty"`
	CostPriority         *float64    `json:"costPriority,omitempty"`
	SpeedPriority        *float64    `json:"speedPriority,omitempty"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitempty"`
}

// A ModelHint is a substring of a model's name.
type ModelHint struct {
	Name string `json:"name,omitempty"`
}

// ToolChoice controls the use of tools: Mode is auto, required or none.
type ToolChoice struct {
	Mode string `json:"mode,omitempty"`
}

// The limits on a request.
const (
	maxSampleMessages = 1000
	maxSampleTools    = 500
	maxStopSequences  = 100
	maxHints          = 100
)

// maxTypedAnswer is the maximum length of the answer of a person in the model's place, in
// characters.
const maxTypedAnswer = 200_000

// Sample sends a request to a model. The surface determines who answers: an MCP
// client that supports sampling, or a person who answers on the page in the model's
// place. The errors are those of [Prompt.Ask]; with neither, it is
// [ErrUnsupported].
func Sample(yield generators.Yield, key string, request SampleRequest, opts ...Option) (SampleResult, error) {
	return ForSample(key, request, opts...).Ask(yield)
}

// ForSample returns the prompt of [Sample].
func ForSample(key string, request SampleRequest, opts ...Option) *Prompt[SampleResult] {
	p := &Prompt[SampleResult]{key: key, question: &askdata.Question{
		Kind: askdata.KindSample, Message: request.summary(), Sample: &askdata.Sample{Request: &request},
		Fields: askdata.Fields{{
			Name: askdata.SampleField, Title: "Answer", Description: "Answer in the model's place.",
			Type: "string", Format: askdata.FormatLong, Required: true, MaxLength: maxTypedAnswer,
		}},
	}}
	if p.err = p.applyOptions(opts); p.err == nil {
		if err := request.validate(); err != nil {
			p.err = fmt.Errorf("ask %q: %w", key, err)
		}
	}
	p.decode = func(r driver.Reply) (SampleResult, error) { return decodeAs[SampleResult](r.Value) }
	return p
}

// summary returns the last message of the user, shortened.
func (s *SampleRequest) summary() string {
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if m := s.Messages[i]; m.Role == RoleUser {
			if text := strings.Join(strings.Fields(m.Text()), " "); text != "" {
				return "Request to a model: " + humanize.Truncate(text, 200)
			}
		}
	}
	return "Request to a model to continue a conversation."
}

// validate returns an error for a request that no client could handle.
func (s *SampleRequest) validate() error {
	switch {
	case len(s.Messages) == 0 || len(s.Messages) > maxSampleMessages:
		return fmt.Errorf("a request to a model needs 1 to %d messages; this one has %d", maxSampleMessages, len(s.Messages))
	case s.MaxTokens <= 0:
		return errors.New("a request to a model needs MaxTokens, the maximum length of the response")
	case len(s.StopSequences) > maxStopSequences:
		return fmt.Errorf("there are %d stop sequences; the maximum is %d", len(s.StopSequences), maxStopSequences)
	case s.Temperature != nil && (math.IsNaN(*s.Temperature) || math.IsInf(*s.Temperature, 0)):
		return errors.New("the temperature is not a number")
	case s.Metadata != nil && rawjson.TypeName(s.Metadata) != rawjson.ObjectType:
		return errors.New("the metadata is not an object")
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
	if len(raw) > askdata.MaxSampleSize {
		return fmt.Errorf("the request has %d bytes; the maximum is %d", len(raw), askdata.MaxSampleSize)
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
		return fmt.Errorf("there are %d model hints; the maximum is %d", len(p.Hints), maxHints)
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
		return fmt.Errorf("there are %d tools; the maximum is %d", len(s.Tools), maxSampleTools)
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

// checkOneOf returns an error if value is neither empty nor one of allowed.
func checkOneOf(name, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s is %q; it must be one of %s", name, value, strings.Join(allowed, ", "))
}
