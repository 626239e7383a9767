package sampling

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
)

// handleQuestion sends a new question to a model if a standing approval covers it. It
// doesn't block.
func (s *Service) handleQuestion(askID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	decided := make(chan struct{})
	s.deciding[askID] = decided
	s.calls.Go(func() {
		if err := s.approveByStanding(askID); err != nil {
			s.logger.Warn("using a standing approval", "ask", askID, "err", err)
		}
		s.mu.Lock()
		delete(s.deciding, askID)
		s.mu.Unlock()
		close(decided)
	})
}

// awaitDecision waits until it is decided whether a standing approval covers a question
// that was asked just now.
func (s *Service) awaitDecision(ctx context.Context, askID string) {
	s.mu.Lock()
	decided := s.deciding[askID]
	s.mu.Unlock()
	if decided == nil {
		return
	}
	select {
	case <-decided:
	case <-ctx.Done():
	}
}

func (s *Service) approveByStanding(askID string) error {
	operator := callers.Operator()
	open, err := s.openSample(s.ctx, operator, askID)
	if err != nil {
		return nil // it was settled at once
	}
	if asked, err := s.clientIsAsked(operator, open.Run); err != nil || asked {
		return err
	}
	covering, err := s.covering(open)
	if err != nil {
		return err
	}
	for _, a := range covering {
		approval, body, err := s.prepare(open, NewState(), Decision{Model: a.Model})
		if err != nil {
			continue // a person sees why
		}
		most := mostTokens(requestOf(open, approval, s.models.Lookup(approval.Model)))
		summary, err := s.take(a.ID, most)
		if err != nil {
			return err
		}
		if summary == "" {
			continue
		}
		approval.Standing, approval.By, approval.Surface = summary, &a.By, Surface
		c, err := s.begin(operator, askID, firstCall, approval, body, a.ID)
		if err != nil { // a person was faster, now or before
			return s.giveBack(a.ID, 1, most)
		}
		go c.run()
		return nil
	}
	return nil
}

// firstCall is the number of the only call that a standing approval makes for a question: a
// person who has decided about it may have removed something.
const firstCall = 1

// covering returns the standing approvals for a question's tool and owner, oldest first.
func (s *Service) covering(open engine.OpenAsk) ([]Standing, error) {
	all, err := s.allStanding(s.ctx)
	return slices.DeleteFunc(all, func(a Standing) bool {
		name := Tool(open)
		if a.Scope == ScopeServer {
			name = open.Question.Server
		}
		return a.Owner != open.Owner || a.Name != name || name == ""
	}), err
}

// clientIsAsked reports whether the question goes to the client that started the run,
// which has a model.
func (s *Service) clientIsAsked(operator generators.Caller, run string) (bool, error) {
	batches, err := s.engine.Read(s.ctx, operator, run, 0)
	if err != nil {
		return false, err
	}
	for batch, err := range batches {
		if err != nil {
			return false, err
		}
		started, err := runlog.Decode[runlog.Started](batch[0])
		return started.Samples, err
	}
	return false, context.Cause(s.ctx)
}

// mostTokens returns how many tokens a request can use: its own, and those of its longest
// reply. A tool can ask for a reply of any length.
func mostTokens(r *ask.SampleRequest) int {
	return llm.EstimateTokens(r) + min(r.MaxTokens, maxStandingTokens)
}

// take takes a request with at most that many tokens from a standing approval, and returns what
// the approval says; "" if it doesn't cover them.
func (s *Service) take(id, tokens int) (summary string, err error) {
	err = s.standing.Update(s.ctx, standingKey(id), func(old []byte) ([]byte, error) {
		summary = ""
		if old == nil {
			return nil, nil // it was revoked
		}
		a, err := decodeStanding(old)
		if err != nil || a.isUsedUp() || a.Tokens != nil && *a.Tokens < tokens {
			return old, err
		}
		if a.Tokens != nil {
			*a.Tokens -= tokens
		}
		if a.Requests != nil {
			*a.Requests--
		}
		a.Calls++
		summary = a.describe()
		return a.encode(), nil
	})
	return summary, err
}

// giveBack returns to a standing approval what a call has taken and didn't use. One that is used
// up is dropped once no call can give anything back.
func (s *Service) giveBack(id, requests, tokens int) error {
	return s.standing.Update(context.WithoutCancel(s.ctx), standingKey(id), func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, nil // it was revoked
		}
		a, err := decodeStanding(old)
		if err != nil {
			return nil, err
		}
		if a.Requests != nil {
			*a.Requests += requests
		}
		if a.Tokens != nil {
			*a.Tokens += tokens
		}
		if a.Calls--; a.Calls == 0 && a.isUsedUp() {
			return nil, nil
		}
		return a.encode(), nil
	})
}

func (a *Standing) isUsedUp() bool {
	return a.Requests != nil && *a.Requests <= 0 || a.Tokens != nil && *a.Tokens <= 0
}

func (a *Standing) describe() string {
	var left []string
	if a.Requests != nil {
		left = append(left, humanize.Count(*a.Requests, "request"))
	}
	if a.Tokens != nil {
		left = append(left, humanize.Count(*a.Tokens, "token"))
	}
	return fmt.Sprintf("a standing approval for the %s %s; %s left", a.Scope, a.Name, strings.Join(left, " and "))
}
