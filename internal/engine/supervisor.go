package engine

import (
	"encoding/json"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A Supervisor decides what holds for the runs of photons that call another server's
// tools, those with a definition. The engine calls its methods from several goroutines,
// sometimes with a run's lock held: they must return quickly and must not call the
// engine.
type Supervisor interface {
	// RecordedArguments returns what the log keeps of a run's arguments: the arguments
	// themselves, or a JSON text in their place.
	RecordedArguments(p *generators.Photon, args json.RawMessage) json.RawMessage
	// RecordedMessages returns what is kept of the messages of a run: a function that returns a
	// message itself, or a JSON text in its place; nil if nothing is. It is called for each
	// message, and the function later.
	RecordedMessages(p *generators.Photon) func(message json.RawMessage) json.RawMessage
	// AdmitsSecrets reports whether forms may have fields for secrets.
	AdmitsSecrets(p *generators.Photon) bool
	// AskSettled is called when a question is settled.
	AskSettled(a SupervisedAsk)
}

// A SupervisedAsk is a question that was settled.
type SupervisedAsk struct {
	ID       string
	Run      string
	Photon   *generators.Photon
	Owner    generators.Caller // whose run it is
	Question *ask.Question     // nil if it can't be read
	AskedAt  time.Time
	// Outcome is the answer's action, or why the question was withdrawn. Surface and By
	// say where the answer came from and who gave it, and AnswerBytes how large it is.
	Outcome     string
	Surface     string
	By          *generators.Caller
	AnswerBytes int
}

// supervisorOf returns what decides about a photon; nil if nothing does.
func (c *core) supervisorOf(p *generators.Photon) Supervisor {
	if c.supervisor == nil || p == nil || p.Options().Definition == nil {
		return nil
	}
	return c.supervisor
}

// recordedArguments returns what the log keeps of a run's arguments.
func (c *core) recordedArguments(p *generators.Photon, args json.RawMessage) json.RawMessage {
	if s := c.supervisorOf(p); s != nil {
		return s.RecordedArguments(p, args)
	}
	return args
}

// askPolicy returns what the runs of a photon may ask.
func (c *core) askPolicy(p *generators.Photon) ask.Policy {
	policy := c.policy
	if s := c.supervisorOf(p); s != nil {
		policy.AllowSecrets = s.AdmitsSecrets(p)
	}
	return policy
}
