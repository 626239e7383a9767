package sampling

import (
	"cmp"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Usage is what the runs of an owner have used of a model for a tool, since the process
// started.
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

// maxUsageKeys bounds what is counted apart. What comes later isn't listed; metrics have
// it.
const maxUsageKeys = 10_000

// countCall counts a call that has ended, and takes what it used from its standing
// approval.
func (s *Service) countCall(c *call, outcome string, end runlog.EndOfSampling) {
	if s.meter != nil {
		s.meter.ModelCalled(c.photon, outcome, end.InputTokens, end.OutputTokens)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.standing != nil && c.standing.Tokens != nil {
		*c.standing.Tokens += c.reserved - end.InputTokens - end.OutputTokens
		s.dropUsedUp()
	}
	key := usageKey{c.owner, c.photon, c.approval.Model}
	u := s.usage[key]
	if u == nil {
		if len(s.usage) == maxUsageKeys {
			return
		}
		u = &Usage{Server: Server(c.photon), Tool: c.photon, Model: c.approval.Model}
		s.usage[key] = u
	}
	u.Calls++
	if outcome != OutcomeReplied {
		u.Failed++
	}
	u.InputTokens, u.OutputTokens = u.InputTokens+end.InputTokens, u.OutputTokens+end.OutputTokens
	u.Estimated = u.Estimated || end.Estimated
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
			sum = &Usage{Server: u.Server, Tool: u.Tool, Model: u.Model}
			sums[key] = sum
		}
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
