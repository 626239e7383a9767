package sampling

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// Surface is the surface that models' answers are recorded with.
const Surface = "model"

// A Decision approves a request to a model. The zero value approves it as it was asked,
// for the model that suits it best, without review.
type Decision struct {
	// Call is the number that the call should get, one more than that of the latest call
	// that the person has seen; 0 if any will do.
	Call int `json:"call,omitempty"`
	// Model is the name of a configured model; empty for the best one.
	Model string `json:"model,omitempty"`
	// Messages, SystemPrompt and MaxTokens replace those of the request; nil and 0 keep
	// them.
	Messages     []ask.SampleMessage `json:"messages,omitempty"`
	SystemPrompt *string             `json:"systemPrompt,omitempty"`
	MaxTokens    int                 `json:"maxTokens,omitempty"`
	// Review keeps the reply until a person returns it.
	Review bool `json:"review,omitempty"`
	// Standing also approves later requests; nil approves this one only.
	Standing *StandingRequest `json:"standing,omitempty"`
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
	approval, body, err := s.prepare(open, d)
	if err != nil {
		return err
	}
	approval.By, approval.Surface = &caller, surface
	c, err := s.begin(caller, askID, d.Call, approval, body, nil)
	if err != nil {
		return err
	}
	if d.Standing != nil { // before the tool gets the reply, and can ask again
		s.addStanding(caller, open, approval.Model, d.Standing)
	}
	go c.run()
	return nil
}

// prepare returns what is approved, and the bytes to be sent.
func (s *Service) prepare(open engine.OpenAsk, d Decision) (runlog.Approval, []byte, error) {
	request, edited, err := d.apply(open.Question)
	if err != nil {
		return runlog.Approval{}, nil, err
	}
	best := s.models.Rank(request)[0].Model
	model := best
	if d.Model != "" {
		if model = s.models.Lookup(d.Model); model == nil {
			return runlog.Approval{}, nil, invalid("model", fmt.Sprintf("must be one of the configured models; there is no %q", d.Model))
		}
	}
	if model.MaxTokens > 0 && request.MaxTokens > model.MaxTokens {
		limited := *request
		limited.MaxTokens = model.MaxTokens
		request, edited = &limited, true
	}
	body, err := model.Encode(request)
	if err != nil {
		return runlog.Approval{}, nil, invalid("model", err.Error())
	}
	a := runlog.Approval{Model: model.Name, ID: model.ID, Endpoint: model.Endpoint, Digest: digest(body), Review: d.Review}
	if edited {
		a.Request = request
	}
	return a, body, nil
}

// apply returns the request with the decision's changes, and whether there are any.
func (d *Decision) apply(q *ask.Question) (_ *ask.SampleRequest, edited bool, err error) {
	r := *q.Sample
	if d.Messages != nil {
		r.Messages = slices.Clone(d.Messages)
	}
	if d.SystemPrompt != nil {
		r.SystemPrompt = *d.SystemPrompt
	}
	if d.MaxTokens < 0 {
		return nil, false, invalid("maxTokens", "must be at least 1")
	}
	if d.MaxTokens > 0 {
		r.MaxTokens = d.MaxTokens
	}
	before, _ := json.Marshal(q.Sample)
	after, err := json.Marshal(&r)
	if err != nil {
		return nil, false, invalid("messages", "must be messages as MCP defines them")
	}
	return &r, string(before) != string(after), checkMessages(r.Messages, len(after))
}

// limits on an edited request.
const (
	maxMessages = 1000
	maxRequest  = 8 << 20 // bytes of JSON
)

// checkMessages returns an error for messages that no model could be sent.
func checkMessages(messages []ask.SampleMessage, size int) error {
	switch {
	case len(messages) == 0 || len(messages) > maxMessages:
		return invalid("messages", fmt.Sprintf("must be 1 to %d; there are %d", maxMessages, len(messages)))
	case size > maxRequest:
		return invalid("messages", fmt.Sprintf("must be at most %d bytes in all", maxRequest))
	}
	for i, m := range messages {
		if m.Role != ask.RoleUser && m.Role != ask.RoleAssistant {
			return invalid("messages", fmt.Sprintf("must be the user's or the assistant's; number %d is of %q", i+1, m.Role))
		}
		if _, err := m.Blocks(); err != nil {
			return invalid("messages", fmt.Sprintf("must have content; that of number %d %v", i+1, err))
		}
	}
	return nil
}

func invalid(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{generators.At(field, message)}}
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// requestOf returns the request that an approval is of.
func requestOf(open engine.OpenAsk, a runlog.Approval) *ask.SampleRequest {
	if a.Request != nil {
		return a.Request
	}
	return open.Question.Sample
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
		return ErrNotReplying
	}
	c.cancel(errStopped)
	<-c.done
	return nil
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
		result.Content = replaceText(result, *edited)
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
	others := slices.DeleteFunc(slices.Clone(blocks), func(b ask.SampleBlock) bool { return b.Type == ask.BlockText })
	return ask.FromAssistant(append([]ask.SampleBlock{ask.TextBlock(text)}, others...)...).Content
}

func acceptResult(r ask.SampleResult) ask.Answer {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("sampling: encoding a result: %v", err)) // it was decoded from JSON
	}
	return ask.Answer{Action: ask.Accept, Content: raw}
}
