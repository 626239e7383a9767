package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/upstream/config"
)

// Elicitation says what upstreams may ask people. The zero value lets them ask
// nothing; see [DefaultElicitation].
type Elicitation struct {
	Enabled bool
	// Timeout is how long a question may stay open; 0 means no limit.
	Timeout time.Duration
	// MaxConcurrent is how many questions one session may have open with one upstream.
	MaxConcurrent int
}

// DefaultElicitation returns the values that hold unless the operator sets others.
func DefaultElicitation() Elicitation { return Elicitation{Enabled: true, MaxConcurrent: 100} }

// AskOutcome is what became of an upstream's request to ask somebody.
type AskOutcome string

// The outcomes of requests.
const (
	AskAccepted  AskOutcome = "accept"
	AskDeclined  AskOutcome = "decline"
	AskCancelled AskOutcome = "cancel"
	AskExpired   AskOutcome = "expired"
	AskWithdrawn AskOutcome = "withdrawn"   // its upstream, call or run ended
	AskDisabled  AskOutcome = "disabled"    // elicitation is switched off
	AskTooMany   AskOutcome = "too_many"    // too many are open
	AskSensitive AskOutcome = "sensitive"   // it asks for a secret
	AskInvalid   AskOutcome = "invalid"     // its schema or mode can't be asked
	AskNobody    AskOutcome = "unavailable" // nobody can be asked
)

// The reasons for which an upstream's request is refused before anybody is asked.
var (
	ErrElicitationDisabled = errors.New("elicitation is switched off here")
	ErrTooManyAsks         = errors.New("too many questions are open")
	ErrSensitive           = errors.New("the form asks for a secret")
)

// Elicitation returns what upstreams may ask people. Timeout and MaxConcurrent are
// those of this upstream.
func (p *Policy) Elicitation() Elicitation {
	e := p.options.Elicitation
	if n := p.server.Limits.Asks; n > 0 {
		e.MaxConcurrent = n
	}
	return e
}

// BeginAsk begins a question of a session, which is anything comparable. The caller
// calls end when it is settled. The error wraps [ErrElicitationDisabled] or
// [ErrTooManyAsks].
func (p *Policy) BeginAsk(session any) (end func(), err error) {
	e := p.Elicitation()
	if !e.Enabled {
		return nil, ErrElicitationDisabled
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if open := p.asks[session]; open >= e.MaxConcurrent {
		return nil, fmt.Errorf("%w: %d, the most that one session may have", ErrTooManyAsks, open)
	}
	p.asks[session]++
	ended := false
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if ended {
			return
		}
		ended = true
		if p.asks[session]--; p.asks[session] == 0 {
			delete(p.asks, session)
		}
	}, nil
}

// RecordRefusal counts and audits a request of the upstream that nobody is asked.
func (p *Policy) RecordRefusal(r AuditRecord) {
	r.Upstream = p.server.Name
	p.options.Meter.UpstreamAsk(p.server.Name, r.Outcome)
	p.options.Audit.Write(r)
}

// OpenAsks returns how many questions are open.
func (p *Policy) OpenAsks() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, open := range p.asks {
		n += open
	}
	return n
}

// CheckForm checks a form, by its message and requested schema, for a secret. The error
// wraps [ErrSensitive] if the upstream may not ask for one. Otherwise warning says
// what the person should know before answering; it is "" if there is nothing.
func (p *Policy) CheckForm(message string, schema json.RawMessage) (warning string, err error) {
	if p.server.Sensitive == config.AllowSensitive {
		return "", nil
	}
	field := findSensitive(message, schema)
	if field == "" {
		return "", nil
	}
	if p.server.Sensitive == config.WarnSensitive {
		return fmt.Sprintf("%s asks for what looks like a secret (%s). The answer goes to that server, and is recorded in the clear.", p.server.Name, field), nil
	}
	return "", fmt.Errorf("%w (%s): a server asks for secrets in URL mode, at an address of its own. If it isn't one, the operator sets \"sensitive\": \"warn\" for the server %s", ErrSensitive, field, p.server.Name)
}

// AdmitsSecrets reports whether forms of the upstream may have fields for secrets.
func (p *Policy) AdmitsSecrets() bool { return p.server.Sensitive != config.RefuseSensitive }
