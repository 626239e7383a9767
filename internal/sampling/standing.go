package sampling

import (
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
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
	case r.Scope == ScopeServer && open.Question.Server == "":
		return invalid("scope", "must be tool: the tool is not an upstream server's")
	case r.Scope == ScopeTool && Tool(open) == "":
		return invalid("scope", "must be server: the server doesn't say which of its tools asks")
	}
	return nil
}

// Tool returns the name of the tool that asks a question: the photon, or another server's
// tool; empty if the server doesn't say which of its tools asks.
func Tool(open engine.OpenAsk) string {
	if open.Question.Server != "" {
		return open.Question.Tool
	}
	return open.Photon
}

func (s *Service) addStanding(caller generators.Caller, open engine.OpenAsk, model string, r *StandingRequest) {
	a := &Standing{Scope: r.Scope, Name: Tool(open), Model: model, Owner: open.Owner, By: caller}
	if r.Scope == ScopeServer {
		a.Name = open.Question.Server
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
