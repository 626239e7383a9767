package ask

import (
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/askdata"
)

// A Who names people who may answer a question: those with a role, or one person. Make
// it with [Role] or [User].
type Who struct{ who askdata.Who }

// Role returns the people who have a role. Names of roles are compared exactly.
func Role(name string) Who { return Who{askdata.Who{Role: name}} }

// User returns one person: the user of that name, or the caller with that ID (see
// [generators.Caller]). Names and IDs are compared exactly.
func User(name string) Who { return Who{askdata.Who{User: name}} }

// From lets any of the named people answer the question, and nobody else: not the run's
// owner and not an operator, unless they are among them. The question is in the inbox of
// each of them, whoever owns the run, with what it shows and nothing else of the run.
//
// Only people whom Beam knows qualify: a browser that hasn't signed in, an MCP client
// without credentials, and those who share the server's token, don't. If nobody can
// qualify, asking returns [ErrUnsupported] at once. The run's owner and operators can
// stop the run all the same.
func From(who ...Who) Option {
	return Option{func(q *askdata.Question) error {
		if len(who) == 0 {
			return errors.New("ask.From: name at least one role or person")
		}
		for _, w := range who {
			if err := w.who.Check(); err != nil {
				return fmt.Errorf("ask.From: %w", err)
			}
			q.From = append(q.From, w.who)
		}
		if len(q.From) > askdata.MaxWho {
			return fmt.Errorf("ask.From: names more than %d roles and people", askdata.MaxWho)
		}
		return nil
	}}
}

// NotCaller keeps the person who started the run from answering, so that two people are
// involved. It compares people, not browsers or sessions: if Beam doesn't know who started
// the run, nobody qualifies. Without [From], it leaves the operators and, if somebody else
// has adopted the run, its owner. Otherwise it is like From.
func NotCaller() Option {
	return Option{func(q *askdata.Question) error {
		q.NotCaller = true
		return nil
	}}
}
