package sampling

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlog"
)

// Surface is the surface that models' answers are recorded with.
const Surface = "model"

// A Decision approves a request to a model. The zero value approves the version that was
// approved last, for the model that it was approved for, or else the request as it was
// asked, for the model that suits it best; without review.
type Decision struct {
	// Call is the number that the call should get, one more than that of the latest call
	// that the person has seen; 0 if they have only seen the request as it was asked.
	Call int `json:"call,omitempty"`
	// Model is the name of a configured model; empty as above.
	Model string `json:"model,omitempty"`
	// Original drops the changes of earlier approvals.
	Original bool `json:"original,omitempty"`
	// What follows replaces members of the request; nil and 0 keep them.
	Messages      []ask.SampleMessage `json:"messages,omitempty"`
	SystemPrompt  *string             `json:"systemPrompt,omitempty"`
	MaxTokens     int                 `json:"maxTokens,omitempty"`
	Temperature   *float64            `json:"temperature,omitempty"`
	StopSequences []string            `json:"stopSequences,omitempty"`
	Tools         []json.RawMessage   `json:"tools,omitempty"`
	ToolChoice    *ask.ToolChoice     `json:"toolChoice,omitempty"`
	// Omit names members that are left out, of those in omissions.
	Omit []string `json:"omit,omitempty"`
	// Review keeps the reply until a person returns it.
	Review bool `json:"review,omitempty"`
	// Standing also approves later requests; nil approves this one only.
	Standing *StandingRequest `json:"standing,omitempty"`
}

// omissions are the members of a request that can be left out. The limit can't: what a
// standing approval covers depends on it.
var omissions = map[string]func(*ask.SampleRequest){
	"systemPrompt":  func(r *ask.SampleRequest) { r.SystemPrompt = "" },
	"temperature":   func(r *ask.SampleRequest) { r.Temperature = nil },
	"stopSequences": func(r *ask.SampleRequest) { r.StopSequences = nil },
	"tools":         func(r *ask.SampleRequest) { r.Tools = nil },
	"toolChoice":    func(r *ask.SampleRequest) { r.ToolChoice = nil },
}

// Approve sends an open question to a model, and returns when that is recorded. The error
// is the engine's, [ErrNotForModel], or a [*generators.InvalidError].
func (s *Service) Approve(ctx context.Context, caller generators.Caller, surface, askID string, d Decision) error {
	open, err := s.openSample(ctx, caller, askID)
	if err != nil {
		return err
	}
	if err := d.Standing.check(open); err != nil {
		return err
	}
	state, err := s.State(ctx, caller, askID)
	if err != nil {
		return err
	}
	if d.Call == 0 && !d.Original && state.Approval.Request != nil {
		by := "somebody"
		if who := state.ChangedBy; who != nil {
			by = callers.Describe(who.ID, who.Name)
		}
		return invalid("call", fmt.Sprintf("must be %d to approve the request as %s has changed it", state.Call+1, by))
	}
	approval, body, err := s.prepare(open, state, d)
	if err != nil {
		return err
	}
	approval.By, approval.Surface = &caller, surface
	c, err := s.begin(caller, askID, cmp.Or(d.Call, state.Call+1), approval, body, noStanding)
	if err != nil {
		return err
	}
	if d.Standing != nil { // before the tool gets the reply, and can ask again
		err = s.addStanding(context.WithoutCancel(ctx), caller, open, approval.Model, d.Standing)
	}
	go c.run()
	return err
}

// prepare returns what is approved, and the bytes to be sent.
func (s *Service) prepare(open engine.OpenAsk, state *State, d Decision) (runlog.Approval, []byte, error) {
	asked := asking.SampleOf(open.Question)
	request, err := d.apply(asked, state)
	if err != nil {
		return runlog.Approval{}, nil, err
	}
	if request, err = s.engine.MaskSample(open.ID, request); err != nil {
		return runlog.Approval{}, nil, err
	}
	model := s.choose(request, state)
	if d.Model != "" {
		if model = s.models.Lookup(d.Model); model == nil {
			return runlog.Approval{}, nil, invalid("model", fmt.Sprintf("must be one of the configured models; there is no %q", d.Model))
		}
	}
	body, err := model.Encode(limit(request, model))
	if err != nil {
		return runlog.Approval{}, nil, invalid("model", err.Error())
	}
	a := runlog.Approval{Model: model.Name, ID: model.ID, Endpoint: model.Endpoint, Digest: digest(body), Review: d.Review}
	if !isSame(asked, request) {
		a.Request = request
	}
	return a, body, nil
}

// apply returns the request with the decision's changes.
func (d *Decision) apply(asked *ask.SampleRequest, state *State) (*ask.SampleRequest, error) {
	r := *asked
	if !d.Original {
		r = *state.Request(asked)
	}
	for _, name := range d.Omit {
		omit := omissions[name]
		if omit == nil {
			return nil, invalid("omit", "must have names of "+strings.Join(slices.Sorted(maps.Keys(omissions)), ", "))
		}
		omit(&r)
	}
	if d.Messages != nil {
		r.Messages = d.Messages
	}
	if d.SystemPrompt != nil {
		r.SystemPrompt = *d.SystemPrompt
	}
	if d.Temperature != nil {
		r.Temperature = d.Temperature
	}
	if d.StopSequences != nil {
		r.StopSequences = d.StopSequences
	}
	if d.Tools != nil {
		r.Tools = d.Tools
	}
	if d.ToolChoice != nil {
		r.ToolChoice = d.ToolChoice
	}
	r.MaxTokens = cmp.Or(d.MaxTokens, r.MaxTokens)
	return &r, checkRequest(&r)
}

// limits on an edited request.
const (
	maxMessages      = 1000
	maxStopSequences = 100
	maxTools         = 500
	maxRequest       = 8 << 20 // bytes of JSON
)

// checkRequest returns an error for a request that no model could be sent.
func checkRequest(r *ask.SampleRequest) error {
	raw, err := json.Marshal(r)
	switch {
	case err != nil:
		return invalid("messages", "must be messages as MCP defines them")
	case r.MaxTokens < 1:
		return invalid("maxTokens", "must be at least 1")
	case r.Temperature != nil && *r.Temperature < 0:
		return invalid("temperature", "must be a number that isn't negative")
	case len(r.StopSequences) > maxStopSequences || slices.Contains(r.StopSequences, ""):
		return invalid("stopSequences", fmt.Sprintf("must be at most %d texts that aren't empty", maxStopSequences))
	case len(r.Tools) > maxTools:
		return invalid("tools", fmt.Sprintf("must be at most %d", maxTools))
	case r.ToolChoice != nil && !slices.Contains([]string{"", "auto", "required", "none"}, r.ToolChoice.Mode):
		return invalid("toolChoice", "must be auto, required or none")
	case len(r.Messages) == 0 || len(r.Messages) > maxMessages:
		return invalid("messages", fmt.Sprintf("must be 1 to %d; there are %d", maxMessages, len(r.Messages)))
	case len(raw) > maxRequest:
		return invalid("messages", fmt.Sprintf("must be at most %d bytes in all", maxRequest))
	}
	for i, m := range r.Messages {
		if m.Role != ask.RoleUser && m.Role != ask.RoleAssistant {
			return invalid("messages", fmt.Sprintf("must be the user's or the assistant's; number %d is of %q", i+1, m.Role))
		}
		if _, err := m.Blocks(); err != nil {
			return invalid("messages", fmt.Sprintf("must have content; that of number %d %v", i+1, err))
		}
	}
	for i, raw := range r.Tools {
		if rawjson.TypeName(rawjson.Member(raw, "name")) != rawjson.TextType || rawjson.TypeName(rawjson.Member(raw, "inputSchema")) != rawjson.ObjectType {
			return invalid("tools", fmt.Sprintf("must have a name and an inputSchema; number %d has not", i+1))
		}
	}
	return nil
}

func invalid(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{driver.At(field, message)}}
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Stop ends the call of a model in progress. The question stays open. The error is the
// engine's, or [ErrNotReplying].
func (s *Service) Stop(ctx context.Context, caller generators.Caller, askID string) error {
	if _, err := s.openSample(ctx, caller, askID); err != nil {
		return err
	}
	s.begins.Lock() // whoever read an approval in the log can stop its call
	s.mu.Lock()
	c := s.running[askID]
	s.mu.Unlock()
	s.begins.Unlock()
	if c == nil {
		return s.stopElsewhere(ctx, caller, askID)
	}
	c.cancel(errStopped)
	<-c.done
	return nil
}

// stopElsewhere ends the call of another process, which sees that in the log.
func (s *Service) stopElsewhere(ctx context.Context, caller generators.Caller, askID string) error {
	state, err := s.State(ctx, caller, askID)
	switch {
	case err != nil:
		return err
	case state.Phase != Replying:
		return ErrNotReplying
	}
	end := runlog.EndOfSampling{Stopped: true, Error: callStopped, OutputTokens: llm.EstimateText(state.Text()), Estimated: true}
	_, err = s.engine.RecordSampling(ctx, caller, askID, runlog.Sampling{Call: state.Call, Ended: &end})
	return err
}

// Return returns a reply that a person has read, with another text if edited isn't nil.
// The error is the engine's, or [ErrNoReply].
func (s *Service) Return(ctx context.Context, caller generators.Caller, surface, askID string, edited *string) error {
	if _, err := s.openSample(ctx, caller, askID); err != nil {
		return err
	}
	state, err := s.State(ctx, caller, askID)
	switch {
	case err != nil:
		return err
	case state.Phase != Replied:
		return ErrNoReply
	}
	result := *state.End.Result
	if edited != nil && *edited != result.Text() {
		result.Content, result.Edited = replaceText(result, *edited), true
	}
	return s.engine.Answer(ctx, caller, askID, acceptResult(result), surface)
}

// replaceText returns the content of a result with another text. The first block of text
// gets it all; blocks of other types stay.
func replaceText(r ask.SampleResult, text string) json.RawMessage {
	blocks, err := r.Blocks()
	if err != nil {
		blocks = nil
	}
	others := slices.DeleteFunc(slices.Clone(blocks), func(b ask.SampleBlock) bool { return b.Type == askdata.BlockText })
	return ask.FromAssistant(append([]ask.SampleBlock{ask.TextBlock(text)}, others...)...).Content
}

func acceptResult(r ask.SampleResult) askdata.Answer {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("sampling: encoding a result: %v", err)) // it was decoded from JSON
	}
	return askdata.Answer{Action: askdata.Accept, Content: raw}
}
