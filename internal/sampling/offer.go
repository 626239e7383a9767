package sampling

import (
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/llm"
)

// An Offer is what a person may choose from to approve a request.
type Offer struct {
	Candidates []llm.Candidate // the best first
	Tokens     int             // an estimate of the request's
	Body       []byte          // what is sent to the best model; nil if no model can take the request
	Problem    string          // why the best model can't take it
}

// NewOffer returns how a request would be sent. There is none, nil, if models is nil.
func NewOffer(models *llm.Models, r *ask.SampleRequest) *Offer {
	if models == nil || r == nil {
		return nil
	}
	o := &Offer{Candidates: models.Rank(r), Tokens: llm.EstimateTokens(r)}
	best := o.Candidates[0]
	limited := *r
	if best.MaxTokens > 0 {
		limited.MaxTokens = min(r.MaxTokens, best.MaxTokens)
	}
	body, err := best.Encode(&limited)
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
	Tokens   int                `json:"estimatedTokens"` // of the request
	Models   []ModelDescription `json:"models"`          // the best first
	Body     string             `json:"body,omitempty"`  // the bytes that are sent to the best model
	Standing string             `json:"standing,omitempty"`
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

// Describe returns where a question stands.
func (s *Service) Describe(r *ask.SampleRequest, state *State) Description {
	offer := NewOffer(s.models, r)
	d := Description{
		Phase: state.Phase, Call: state.Call, Model: state.Approval.Model, Text: state.Text(), Notices: state.Notices,
		Tokens: offer.Tokens, Body: string(offer.Body), Standing: state.Approval.Standing,
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
