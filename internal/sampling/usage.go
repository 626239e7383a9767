package sampling

import (
	"cmp"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
)

// Usage is what the runs of an owner have used of a model for a tool.
type Usage struct {
	Server       string `json:"server,omitempty"` // empty for Beam's own photons
	Tool         string `json:"tool"`
	Model        string `json:"model"`
	Calls        int    `json:"calls"`
	Failed       int    `json:"failed"` // including those that were stopped
	InputTokens  int    `json:"inputTokens"`
	OutputTokens int    `json:"outputTokens"`
	Estimated    bool   `json:"estimated,omitempty"` // some of the tokens are estimates
}

type usageKey struct{ owner, tool, model string }

// maxUsageKeys bounds how many owners, tools and models are counted apart. Later owners are
// counted together, for operators; after twice as many, only metrics count.
const maxUsageKeys = 10_000

// countCall counts a call that has ended, and gives back what it didn't use of its standing
// approval. What the endpoint says that it used counts, but not less than the estimate.
func (s *Service) countCall(c *call, outcome string, end runlog.EndOfSampling) {
	if s.meter != nil {
		s.meter.ModelCalled(c.photon, outcome, end.InputTokens, end.OutputTokens)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.standing != nil {
		output := end.OutputTokens
		if end.Result != nil {
			output = max(output, llm.EstimateReply(end.Result))
		}
		c.standing.giveBack(0, c.reserved-max(end.InputTokens, c.input)-output)
		s.dropUsedUp()
	}
	u := s.usageOf(usageKey{c.owner, c.photon, c.approval.Model})
	if u == nil {
		return
	}
	u.Calls++
	u.Server = cmp.Or(u.Server, c.server)
	if outcome != OutcomeReplied {
		u.Failed++
	}
	u.InputTokens, u.OutputTokens = u.InputTokens+end.InputTokens, u.OutputTokens+end.OutputTokens
	u.Estimated = u.Estimated || end.Estimated
	s.usageFile.changed(s)
}

// usageOf returns what is counted for a key; nil if there are too many. Callers hold mu.
func (s *Service) usageOf(key usageKey) *Usage {
	if u := s.usage[key]; u != nil {
		return u
	}
	if len(s.usage) >= maxUsageKeys && key.owner != "" {
		return s.usageOf(usageKey{"", key.tool, key.model})
	}
	if len(s.usage) >= 2*maxUsageKeys {
		return nil
	}
	u := &Usage{Tool: key.tool, Model: key.model}
	s.usage[key] = u
	return u
}

// Usages returns what has been used by the runs that a caller may see, by tool and model.
func (s *Service) Usages(caller generators.Caller) []Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := make(map[usageKey]*Usage)
	for key, u := range s.usage {
		if !mayUse(caller, key.owner) {
			continue
		}
		key.owner = ""
		sum := sums[key]
		if sum == nil {
			sum = &Usage{Tool: u.Tool, Model: u.Model}
			sums[key] = sum
		}
		sum.Server = cmp.Or(sum.Server, u.Server)
		sum.Calls, sum.Failed = sum.Calls+u.Calls, sum.Failed+u.Failed
		sum.InputTokens, sum.OutputTokens = sum.InputTokens+u.InputTokens, sum.OutputTokens+u.OutputTokens
		sum.Estimated = sum.Estimated || u.Estimated
	}
	list := make([]Usage, 0, len(sums))
	for _, u := range sums {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b Usage) int { return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Model, b.Model)) })
	return list
}
