package sampling

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

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
// with the process, unless several share a store.
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

// addStanding adds a standing approval. Its id is about when that was, in milliseconds of Unix time.
func (s *Service) addStanding(ctx context.Context, caller generators.Caller, open engine.OpenAsk, model string, r *StandingRequest) error {
	a := &storedStanding{Standing: Standing{Scope: r.Scope, Name: Tool(open), Model: model, Owner: open.Owner, By: caller}}
	if r.Scope == ScopeServer {
		a.Name = open.Question.Server
	}
	if r.Requests > 0 {
		a.Requests = new(r.Requests)
	}
	if r.Tokens > 0 {
		a.Tokens = new(r.Tokens)
	}
	for a.ID = int(time.Now().UnixMilli()); ; a.ID++ {
		added, err := s.standing.Add(ctx, standingKey(a.ID), a.encode())
		if added || err != nil {
			return err
		}
	}
}

// A storedStanding is a standing approval as it is stored.
type storedStanding struct {
	Standing
	Calls int `json:"calls,omitempty"` // in progress
}

func (a *storedStanding) encode() []byte {
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err) // it has texts and numbers
	}
	return raw
}

func decodeStanding(raw []byte) (a *storedStanding, err error) {
	err = json.Unmarshal(raw, &a)
	return a, err
}

// standingKey returns the key of a standing approval. Later ones have greater keys.
func standingKey(id int) string { return fmt.Sprintf("%015d", id) }

// allStanding returns the standing approvals that aren't used up, oldest first.
func (s *Service) allStanding(ctx context.Context) (all []Standing, err error) {
	for v, err := range s.standing.All(ctx) {
		var a *storedStanding
		if err == nil {
			a, err = decodeStanding(v.Value)
		}
		if err != nil {
			return nil, err
		}
		if !a.isUsedUp() {
			all = append(all, a.Standing)
		}
	}
	return all, nil
}

// Standings returns the standing approvals that a caller may revoke.
func (s *Service) Standings(ctx context.Context, caller generators.Caller) ([]Standing, error) {
	all, err := s.allStanding(ctx)
	return slices.DeleteFunc(append([]Standing{}, all...), func(a Standing) bool { return !mayUse(caller, a.Owner) }), err
}

// mayUse reports whether a caller may use what belongs to the runs of an owner.
func mayUse(caller generators.Caller, owner string) bool {
	return caller.ID == owner || caller.HasRole(generators.RoleOperator)
}

// Revoke ends a standing approval. The error is [ErrNoStanding], or the store's.
func (s *Service) Revoke(ctx context.Context, caller generators.Caller, id int) error {
	return s.standing.Update(ctx, standingKey(id), func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, ErrNoStanding
		}
		a, err := decodeStanding(old)
		if err == nil && !mayUse(caller, a.Owner) {
			err = ErrNoStanding
		}
		return nil, err
	})
}
