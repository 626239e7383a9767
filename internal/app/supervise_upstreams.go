package app

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// An upstreamSupervisor applies the policies of upstreams to the runs of their tools, and
// audits what they ask. Until there is a manager, it is as strict as a policy can be.
type upstreamSupervisor struct {
	manager atomic.Pointer[upstream.Manager]
	audit   atomic.Pointer[policy.Audit]
	meter   policy.Meter
}

var _ engine.Supervisor = (*upstreamSupervisor)(nil)

// policyOf returns the policy for a photon; nil if its upstream is gone.
func (s *upstreamSupervisor) policyOf(p *generators.Photon) (*policy.Policy, string) {
	m := s.manager.Load()
	if m == nil {
		return nil, ""
	}
	return m.PolicyOf(p)
}

// RecordedArguments implements [engine.Supervisor].
func (s *upstreamSupervisor) RecordedArguments(p *generators.Photon, args json.RawMessage) json.RawMessage {
	policy, _ := s.policyOf(p)
	if policy == nil {
		return json.RawMessage(`"Not recorded"`)
	}
	return policy.Recorded(args)
}

// RecordedMessages implements [engine.Supervisor].
func (s *upstreamSupervisor) RecordedMessages(p *generators.Photon) func(json.RawMessage) json.RawMessage {
	policy, _ := s.policyOf(p)
	if policy == nil || policy.Record() == config.RecordNothing {
		return nil
	}
	return policy.Recorded
}

// AdmitsSecrets implements [engine.Supervisor].
func (s *upstreamSupervisor) AdmitsSecrets(p *generators.Photon) bool {
	policy, _ := s.policyOf(p)
	return policy != nil && policy.AdmitsSecrets()
}

// AskSettled implements [engine.Supervisor].
func (s *upstreamSupervisor) AskSettled(a engine.SupervisedAsk) {
	outcome := outcomeOfAsk(a.Outcome)
	name := a.Photon.Options().Group // as package catalogue makes them
	s.meter.UpstreamAsk(name, outcome)
	_, tool := s.policyOf(a.Photon)
	r := policy.AuditRecord{
		Upstream: name, Tool: tool, Run: a.Run, Ask: a.ID, Person: a.Owner.ID,
		Surface: a.Surface, Outcome: outcome, OpenFor: time.Since(a.AskedAt).Milliseconds(),
	}
	if a.By != nil && a.By.ID != a.Owner.ID {
		r.By = a.By.ID
	}
	if outcome == policy.AskWithdrawn {
		r.Reason = a.Outcome
	}
	if q := a.Question; q != nil {
		r.Kind, r.Question = string(q.Kind), policy.DigestOf([]byte(q.Message))
		for _, f := range q.Fields {
			r.Fields = append(r.Fields, f.Name)
		}
	}
	if outcome == policy.AskAccepted {
		r.Answer = &policy.Digest{Bytes: a.AnswerBytes}
	}
	s.audit.Load().Write(r)
}

// outcomeOfAsk returns the outcome of a question, given the action of its answer or why it
// was withdrawn.
func outcomeOfAsk(settled string) policy.AskOutcome {
	switch settled {
	case string(askdata.Accept), string(askdata.Decline), string(askdata.Cancel):
		return policy.AskOutcome(settled)
	case string(runlog.Expired):
		return policy.AskExpired
	case string(runlog.Unsupported):
		return policy.AskNobody
	case string(runlog.Invalid):
		return policy.AskInvalid
	}
	return policy.AskWithdrawn
}
