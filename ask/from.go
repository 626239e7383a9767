package ask

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Who names people who may answer a question: those with a role, or one person. Make
// it with [Role] or [User].
type Who struct {
	Role string `json:"role,omitempty"`
	User string `json:"user,omitempty"`
}

// Role returns the people who have a role. Names of roles are compared exactly.
func Role(name string) Who { return Who{Role: name} }

// User returns one person: the user of that name, or the caller with that ID (see
// [generators.Caller]). Names and IDs are compared exactly.
func User(name string) Who { return Who{User: name} }

// maxWho is how many roles and people a question may name, and maxWhoText how long, in
// bytes, the name of each may be.
const (
	maxWho     = 32
	maxWhoText = 256
)

// From lets any of the named people answer the question, and nobody else: not the run's
// owner and not an operator, unless they are among them. The question is in the inbox of
// each of them, whoever owns the run, with what it shows and nothing else of the run.
//
// Only people whom Beam knows qualify: a browser that hasn't signed in, an MCP client
// without credentials, and those who share the server's token, don't. If nobody can
// qualify, asking returns [ErrUnsupported] at once. The run's owner and operators can
// stop the run all the same.
func From(who ...Who) Option {
	return func(q *Question) error {
		if len(who) == 0 {
			return errors.New("ask.From: name at least one role or person")
		}
		q.From = append(q.From, who...)
		if len(q.From) > maxWho {
			return fmt.Errorf("ask.From: names more than %d roles and people", maxWho)
		}
		for _, w := range who {
			if err := w.check(); err != nil {
				return fmt.Errorf("ask.From: %w", err)
			}
		}
		return nil
	}
}

// NotCaller keeps the person who started the run from answering, so that two people are
// involved. It compares people, not browsers or sessions: if Beam doesn't know who started
// the run, nobody qualifies. Without [From], it leaves the operators and, if somebody else
// has adopted the run, its owner. Otherwise it is like From.
func NotCaller() Option {
	return func(q *Question) error {
		q.NotCaller = true
		return nil
	}
}

func (w Who) check() error {
	name := w.Role + w.User
	switch {
	case name == "" || w.Role != "" && w.User != "":
		return errors.New("make each argument with ask.Role or ask.User, and a name")
	case len(name) > maxWhoText:
		return fmt.Errorf("a name has more than %d bytes", maxWhoText)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the name %q has control characters, or is not UTF-8", name)
	}
	return nil
}
