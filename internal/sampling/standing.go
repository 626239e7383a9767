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

// A StandingRequest asks that later requests be sent without asking: those of the same
// tool, or of the same upstream server, in runs of the same owner, up to a number of
// requests, of tokens, or both.
type StandingRequest struct {
	Scope    Scope `json:"scope"`
	Requests int   `json:"requests,omitempty"`
	Tokens   int   `json:"tokens,omitempty"`
}

// Scope is what a standing approval is for.
type Scope string

// The scopes.
const (
	ScopeTool   Scope = "tool"
	ScopeServer Scope = "server"
)

// A Standing is a standing approval in effect. It ends when it is used up or revoked, or
// with the process.
type Standing struct {
	ID    int    `json:"id"`
	Scope Scope  `json:"scope"`
	Name  string `json:"name"` // of the tool or server
	// Model is the configured model that the person approved. Requests can't choose
	// another one.
	Model string `json:"model"`
	// Requests and Tokens are what is left; nil means that they are unlimited.
	Requests *int              `json:"requests,omitempty"`
	Tokens   *int              `json:"tokens,omitempty"`
	Owner    string            `json:"owner"` // of the runs
	By       generators.Caller `json:"by"`

	calls int // in progress
}

// limits on a standing approval.
const (
	maxStandingRequests = 10_000
	maxStandingTokens   = 100_000_000
)

// check returns an [*generators.InvalidError] for a standing approval without a limit.
// The receiver may be nil.
func (r *StandingRequest) check(open engine.OpenAsk) error {
	switch {
	case r == nil:
		return nil
	case r.Requests <= 0 && r.Tokens <= 0:
		return invalid("requests", "must say how many requests, or tokens, are approved")
	case r.Requests < 0 || r.Requests > maxStandingRequests:
		return invalid("requests", fmt.Sprintf("must be at most %d", maxStandingRequests))
	case r.Tokens < 0 || r.Tokens > maxStandingTokens:
		return invalid("tokens", fmt.Sprintf("must be at most %d", maxStandingTokens))
	case r.Scope != ScopeTool && r.Scope != ScopeServer:
		return invalid("scope", "must be tool or server")
	case r.Scope == ScopeServer && Server(open.Photon) == "":
		return invalid("scope", "must be tool: the tool is not an upstream server's")
	}
	return nil
}

// Server returns the name of the upstream server whose tool a photon is: the part of the
// photon's name before "__". It is empty for Beam's own photons.
func Server(photon string) string {
	server, _, found := strings.Cut(photon, "__")
	if !found {
		return ""
	}
	return server
}

func (s *Service) addStanding(caller generators.Caller, open engine.OpenAsk, model string, r *StandingRequest) {
	a := &Standing{Scope: r.Scope, Name: open.Photon, Model: model, Owner: open.Owner, By: caller}
	if r.Scope == ScopeServer {
		a.Name = Server(open.Photon)
	}
	if r.Requests > 0 {
		a.Requests = new(r.Requests)
	}
	if r.Tokens > 0 {
		a.Tokens = new(r.Tokens)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	a.ID = s.nextID
	s.standing = append(s.standing, a)
}

// Standings returns the standing approvals that a caller may revoke.
func (s *Service) Standings(caller generators.Caller) []Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Standing{}
	for _, a := range s.standing {
		if mayUse(caller, a.Owner) && !a.isUsedUp() {
			c := *a
			if a.Requests != nil {
				c.Requests = new(*a.Requests)
			}
			if a.Tokens != nil {
				c.Tokens = new(*a.Tokens)
			}
			list = append(list, c)
		}
	}
	return list
}

// mayUse reports whether a caller may use what belongs to the runs of an owner.
func mayUse(caller generators.Caller, owner string) bool {
	return caller.ID == owner || caller.HasRole(generators.RoleOperator)
}

// Revoke ends a standing approval. The error is [ErrNoStanding].
func (s *Service) Revoke(caller generators.Caller, id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.standing, func(a *Standing) bool { return a.ID == id && mayUse(caller, a.Owner) })
	if i < 0 {
		return ErrNoStanding
	}
	s.standing = slices.Delete(s.standing, i, i+1)
	return nil
}

// handleQuestion sends a new question to a model if a standing approval covers it. It
// doesn't block.
func (s *Service) handleQuestion(askID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.standing) == 0 || s.closed {
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
	for _, a := range s.covering(open) {
		approval, body, err := s.prepare(open, Decision{Model: a.Model})
		if err != nil {
			continue // a person sees why
		}
		most := mostTokens(requestOf(open, approval))
		summary, ok := s.take(a, most)
		if !ok {
			continue
		}
		approval.Standing, approval.By, approval.Surface = summary, &a.By, Surface
		if s.begin(operator, askID, approval, body, a) != nil { // a person was faster
			s.giveBack(a, 1, most)
		}
		return nil
	}
	return nil
}

// covering returns the standing approvals for a question's tool and owner, oldest first.
func (s *Service) covering(open engine.OpenAsk) []*Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Standing
	for _, a := range s.standing {
		name := open.Photon
		if a.Scope == ScopeServer {
			name = Server(open.Photon)
		}
		if a.Owner == open.Owner && a.Name == name {
			list = append(list, a)
		}
	}
	return list
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

// take takes a request with at most that many tokens from a standing approval, if it
// covers them, and returns what the approval says.
func (s *Service) take(a *Standing, tokens int) (summary string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.standing, a) || a.isUsedUp() || a.Tokens != nil && *a.Tokens < tokens {
		return "", false
	}
	if a.Tokens != nil {
		*a.Tokens -= tokens
	}
	if a.Requests != nil {
		*a.Requests--
	}
	a.calls++
	return a.describe(), true
}

// giveBack returns to a standing approval what a call has taken and didn't use.
func (s *Service) giveBack(a *Standing, requests, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.giveBack(requests, tokens)
	s.dropUsedUp()
}

// giveBack is [Service.giveBack]. Callers hold the service's mu.
func (a *Standing) giveBack(requests, tokens int) {
	if a.Requests != nil {
		*a.Requests += requests
	}
	if a.Tokens != nil {
		*a.Tokens += tokens
	}
	a.calls--
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

// dropUsedUp drops the standing approvals that are used up, once no call can give anything
// back. Callers hold mu.
func (s *Service) dropUsedUp() {
	s.standing = slices.DeleteFunc(s.standing, func(a *Standing) bool { return a.calls == 0 && a.isUsedUp() })
}
