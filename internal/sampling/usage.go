package sampling

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
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

// UsageBucket has a value for each owner, tool and model, and since when they are counted.
const UsageBucket = "model-usage"

const sinceKey = "since"

// text returns the key of what is counted.
func (k usageKey) text() string {
	raw, err := json.Marshal([]string{k.owner, k.tool, k.model})
	if err != nil {
		panic(err) // texts always have a JSON form
	}
	return string(raw)
}

// maxUsageKeys bounds how many owners, tools and models are counted apart. Later owners are
// counted together, for operators; after twice as many, only metrics count.
const maxUsageKeys = 10_000

// countCall counts a call that has ended, and gives back what it didn't use of its standing
// approval. What the endpoint says that it used counts, but not less than the estimate.
func (s *Service) countCall(c *call, outcome string, end runlog.EndOfSampling) {
	if s.meter != nil {
		s.meter.ModelCalled(c.photon, outcome, end.InputTokens, end.OutputTokens)
	}
	if c.standing != noStanding {
		output := end.OutputTokens
		if end.Result != nil {
			output = max(output, llm.EstimateReply(end.Result))
		}
		if err := s.giveBack(c.standing, 0, c.reserved-max(end.InputTokens, c.input)-output); err != nil {
			s.logger.Error("giving back what a call didn't use of a standing approval", "err", err)
		}
	}
	u := Usage{Server: c.server, Tool: c.photon, Model: c.approval.Model, Calls: 1, InputTokens: end.InputTokens, OutputTokens: end.OutputTokens, Estimated: end.Estimated}
	if outcome != OutcomeReplied {
		u.Failed = 1
	}
	if err := s.addUsage(context.Background(), c.owner, u); err != nil {
		s.logger.Error("counting what a model was used for", "err", err)
	}
}

// addUsage adds to what is counted.
func (s *Service) addUsage(ctx context.Context, owner string, u Usage) error {
	s.counting.Lock() // new keys are counted
	defer s.counting.Unlock()
	since, err := s.since.MarshalText()
	if err == nil {
		_, err = s.usage.Add(ctx, sinceKey, since)
	}
	if err != nil {
		return err
	}
	key := usageKey{owner, u.Tool, u.Model}
	known, err := s.usage.Get(ctx, key.text())
	if err != nil {
		return err
	}
	if known == nil {
		n, err := s.countUsageKeys(ctx)
		if err != nil || n >= 2*maxUsageKeys {
			return err
		}
		if n >= maxUsageKeys {
			key.owner = ""
		}
	}
	return s.usage.Update(ctx, key.text(), func(old []byte) ([]byte, error) {
		sum := Usage{Tool: u.Tool, Model: u.Model}
		if old != nil {
			if err := json.Unmarshal(old, &sum); err != nil {
				return nil, err
			}
		}
		sum.add(u)
		return json.Marshal(sum)
	})
}

func (s *Service) countUsageKeys(ctx context.Context) (n int, err error) {
	for _, err := range s.usage.All(ctx) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// add adds other usage of the same tool and model.
func (u *Usage) add(more Usage) {
	u.Server = cmp.Or(u.Server, more.Server)
	u.Calls, u.Failed = u.Calls+more.Calls, u.Failed+more.Failed
	u.InputTokens, u.OutputTokens = u.InputTokens+more.InputTokens, u.OutputTokens+more.OutputTokens
	u.Estimated = u.Estimated || more.Estimated
}

// UsageSince returns when counting began.
func (s *Service) UsageSince(ctx context.Context) (since time.Time, err error) {
	raw, err := s.usage.Get(ctx, sinceKey)
	if err != nil || raw == nil {
		return s.since, err
	}
	return since, since.UnmarshalText(raw)
}

// Usages returns what has been used by the runs that a caller may see, by tool and model.
func (s *Service) Usages(ctx context.Context, caller generators.Caller) ([]Usage, error) {
	sums := make(map[usageKey]*Usage)
	for v, err := range s.usage.All(ctx) {
		var key []string
		var u Usage
		if err == nil && v.Key != sinceKey {
			err = cmp.Or(json.Unmarshal([]byte(v.Key), &key), json.Unmarshal(v.Value, &u))
		}
		if err != nil {
			return nil, err
		}
		if len(key) == 0 || !mayUse(caller, key[0]) {
			continue
		}
		if sum := sums[usageKey{"", u.Tool, u.Model}]; sum != nil {
			sum.add(u)
		} else {
			sums[usageKey{"", u.Tool, u.Model}] = &u
		}
	}
	list := make([]Usage, 0, len(sums))
	for _, u := range sums {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b Usage) int { return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Model, b.Model)) })
	return list, nil
}

// OldUsage returns the values of the bucket for the file in which earlier versions kept them.
func OldUsage(file []byte) ([]smallstate.Value, error) {
	var saved struct {
		Since time.Time
		Usage []struct {
			Owner string
			Usage
		}
	}
	if err := json.NewDecoder(bytes.NewReader(file)).Decode(&saved); err != nil {
		return nil, err
	}
	since, err := saved.Since.MarshalText()
	values := []smallstate.Value{{Key: sinceKey, Value: since}}
	for _, u := range saved.Usage {
		raw, marshalErr := json.Marshal(u.Usage)
		values, err = append(values, smallstate.Value{Key: usageKey{u.Owner, u.Tool, u.Model}.text(), Value: raw}), cmp.Or(err, marshalErr)
	}
	return values, err
}
