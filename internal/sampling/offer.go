package sampling

import (
	"context"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm"
)

// An Offer is what a person may choose from to approve a version of a request.
type Offer struct {
	Candidates []llm.Candidate // the best first
	Choice     llm.Candidate   // that of the latest approval if it can take the request, or else the best
	Tokens     int             // an estimate of the request's
	Body       []byte          // what is sent to the choice; nil if it can't take the request
	Problem    string          // why the choice can't take it
}

// NewOffer returns how a version of a request would be sent. There is none, nil, if models
// is nil.
func NewOffer(models *llm.Models, r *ask.SampleRequest, state *State) *Offer {
	if models == nil || r == nil {
		return nil
	}
	o := &Offer{Candidates: models.Rank(r), Tokens: llm.EstimateTokens(r)}
	o.Choice = o.Candidates[0]
	for _, c := range o.Candidates {
		if a := state.Approval; c.Name == a.Model && c.ID == a.ID && c.Endpoint == a.Endpoint && c.Unfit == "" {
			o.Choice = c
		}
	}
	body, err := o.Choice.Encode(limit(r, o.Choice.Model))
	if err != nil {
		o.Problem = err.Error()
		return o
	}
	o.Body = body
	return o
}

// A Description is where a question to a model stands, for programs.
type Description struct {
	Phase    Phase              `json:"phase"`
	Call     int                `json:"call"`             // of the latest call; 0 if there was none
	Model    string             `json:"model,omitempty"`  // that was called
	Text     string             `json:"text,omitempty"`   // what has arrived of the reply
	Result   *ask.SampleResult  `json:"result,omitempty"` // the reply that waits to be returned
	Error    string             `json:"error,omitempty"`  // why there is no reply
	Notices  []string           `json:"notices,omitempty"`
	Models   []ModelDescription `json:"models"` // the best first
	Standing string             `json:"standing,omitempty"`
	Version
}

// A Version is a request as it is sent.
type Version struct {
	// Request is nil if it is as it was asked; Changes is what differs, in the unified format.
	Request   *ask.SampleRequest `json:"request,omitempty"`
	Changes   string             `json:"changes,omitempty"`
	ChangedBy string             `json:"changedBy,omitempty"` // what people call who changed it
	Choice    string             `json:"choice"`              // the model that it is sent to
	Tokens    int                `json:"estimatedTokens"`
	Body      string             `json:"body,omitempty"` // the bytes that are sent
}

// Describe returns where a question stands, and how it is sent unless a person changes it.
func (s *Service) Describe(asked *ask.SampleRequest, state *State) Description {
	r := state.Request(asked)
	offer := NewOffer(s.models, r, state)
	d := Description{
		Phase: state.Phase, Call: state.Call, Model: state.Approval.Model, Text: state.Text(), Notices: state.Notices, Standing: state.Approval.Standing,
		Version: DescribeVersion(asked, r, offer.Choice.Model, offer.Body),
	}
	if by := state.ChangedBy; by != nil {
		d.ChangedBy = callers.Describe(by.ID, by.Name)
	}
	if state.End != nil {
		d.Result, d.Error = state.End.Result, state.End.Error
	}
	for _, c := range offer.Candidates {
		model := describeModel(c.Model)
		model.Unfit = c.Unfit
		d.Models = append(d.Models, model)
	}
	return d
}

// DescribeVersion returns a version of a request that is sent to a model, in a body.
func DescribeVersion(asked, r *ask.SampleRequest, model *llm.Model, body []byte) Version {
	v := Version{Choice: model.Name, Tokens: llm.EstimateTokens(r), Body: string(body)}
	if !isSame(asked, r) {
		v.Request = r
	}
	if changes := Changes(asked, r); changes != nil {
		v.Changes = string(changes.Body)
	}
	return v
}

// Preview returns what an approval would send now, and sends nothing. The error is that of
// [Service.Approve].
func (s *Service) Preview(ctx context.Context, caller generators.Caller, askID string, d Decision) (Version, error) {
	open, err := s.openSample(ctx, caller, askID)
	if err != nil {
		return Version{}, err
	}
	state, err := s.State(ctx, caller, askID)
	if err != nil {
		return Version{}, err
	}
	if d.Call != 0 && d.Call != state.Call+1 {
		return Version{}, engine.ErrSamplingChanged
	}
	a, body, err := s.prepare(open, state, d)
	if err != nil {
		return Version{}, err
	}
	r := asking.SampleOf(open.Question)
	if a.Request != nil {
		r = a.Request
	}
	return DescribeVersion(asking.SampleOf(open.Question), r, s.models.Lookup(a.Model), body), nil
}

// A ModelDescription is a configured model, for programs.
type ModelDescription struct {
	Name         string   `json:"name"`
	Model        string   `json:"model"`
	Endpoint     string   `json:"endpoint"`
	Cost         float64  `json:"cost"`
	Speed        float64  `json:"speed"`
	Intelligence float64  `json:"intelligence"`
	Accepts      []string `json:"accepts"`
	MaxTokens    int      `json:"maxTokens,omitempty"`
	Unfit        string   `json:"unfit,omitempty"` // why the model can't take the request
}

// DescribeModels returns the configured models in the order of their file.
func (s *Service) DescribeModels() []ModelDescription {
	var list []ModelDescription
	for _, m := range s.models.All() {
		list = append(list, describeModel(m))
	}
	return list
}

func describeModel(m *llm.Model) ModelDescription {
	return ModelDescription{
		Name: m.Name, Model: m.ID, Endpoint: m.Endpoint, Cost: m.Cost, Speed: m.Speed, Intelligence: m.Intelligence,
		Accepts: append([]string{"text"}, m.Accepts...), MaxTokens: m.MaxTokens,
	}
}
