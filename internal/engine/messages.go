package engine

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/recording"
)

// RecordMessage records a message that went between Beam and the client that called a run,
// or the server whose tool the run calls. Its data must not change any more. Secrets in it
// are masked, and of the messages of another server's tool no more is kept than its log may
// have.
func (e *Engine) RecordMessage(run string, o recording.Observed) {
	r, err := e.load(run)
	if err != nil || r.photon == nil { // then it isn't known what may be kept
		return
	}
	content := r.maskMessage
	if s := e.supervisorOf(r.photon); s != nil {
		keep := s.RecordedMessages(r.photon)
		if keep == nil {
			return
		}
		content = func(m json.RawMessage) json.RawMessage { return keep(r.maskMessage(m)) }
	}
	e.messages.Add(run, o, content)
}

// maskMessage returns a message with the secrets masked that the generator has been given.
func (r *trackedRun) maskMessage(m json.RawMessage) json.RawMessage {
	w := worker{secrets: r.maskedSecrets()}
	return w.maskJSON(m)
}

// maskedSecrets returns the secrets that are masked in the run's messages.
func (r *trackedRun) maskedSecrets() []secret {
	if secrets := r.masked.Load(); secrets != nil {
		return *secrets
	}
	return nil
}

// noteMasked makes the secrets of the worker those that messages are masked of, except that
// those of a run that is resumed stay until it has as many again. Callers hold mu.
func (w *worker) noteMasked() {
	if old := w.masked.Load(); old != nil && len(*old) > len(w.secrets) {
		return
	}
	secrets := slices.Clone(w.secrets)
	w.masked.Store(&secrets)
}

// Messages returns the recorded messages of a run, oldest first. The first has a greater
// Seq than 1 if earlier ones were dropped. The error is [ErrRunNotFound], [ErrForbidden],
// or the file system's.
func (e *Engine) Messages(caller generators.Caller, run string) ([]recording.Message, error) {
	if _, err := e.findRun(caller, run); err != nil {
		return nil, err
	}
	return e.messages.Messages(run)
}

// withObserver returns the context of a run's generator, whose messages to other servers are
// recorded.
func (r *trackedRun) withObserver(ctx context.Context) context.Context {
	return recording.WithObserver(ctx, func(o recording.Observed) { r.engine.RecordMessage(r.id, o) })
}
