package engine

import (
	"context"
	"encoding/json"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
)

// RecordMessage records a message that went between Beam and the client that called a run,
// or the server whose tool the run calls. Its data must not change any more. Secrets in it
// are masked, and of the messages of another server's tool no more is kept than its log may
// have. If the secrets can't be known any more, no content is kept of what others send.
func (c *core) RecordMessage(run string, o recording.Observed) {
	r, err := c.load(run)
	if err != nil || r.photon == nil { // then it isn't known what may be kept
		return
	}
	content := r.messageMask(o.Direction)
	if s := c.supervisorOf(r.photon); s != nil {
		keep := s.RecordedMessages(r.photon)
		if keep == nil {
			return
		}
		masked := content
		content = func(m json.RawMessage) json.RawMessage { return keep(masked(m)) }
	}
	c.messages.Add(run, o, content)
}

// messageMask returns a function that returns a message as it may be kept. The function masks
// the secrets that are known now, or if there are more by then, those.
func (r *trackedRun) messageMask(way recording.Direction) func(json.RawMessage) json.RawMessage {
	secrets, err := r.maskedSecrets()
	if err != nil && !(r.ended.Load() && way == recording.Out) { // what Beam sends then has been masked in the log
		return func(json.RawMessage) json.RawMessage { return rawjson.EncodeText(mask.Mask) }
	}
	return func(m json.RawMessage) json.RawMessage {
		if later := r.masked.Load(); later != nil && len(*later) > len(secrets) {
			secrets = *later
		}
		return secrets.JSON(m)
	}
}

// noSecrets are the secrets of a run that has none.
var noSecrets mask.Secrets

// maskedSecrets returns the secrets that are masked in the run's messages: those that its
// generator was given, or if that isn't here, those in the log. The error is the log's, or
// [keyring.ErrNoKey]. The caller may hold mu.
func (r *trackedRun) maskedSecrets() (mask.Secrets, error) {
	if secrets := r.masked.Load(); secrets != nil {
		return *secrets, nil
	}
	known, secrets := r.secretAnswers.Load(), &noSecrets
	if r.core.keys.Has(r.id) || r.ended.Load() { // the end deletes the key
		recorded, err := r.readSecrets()
		if err != nil {
			return nil, err
		}
		secrets = &recorded
	}
	if r.masked.CompareAndSwap(nil, secrets) && r.secretAnswers.Load() != known { // one more came meanwhile
		r.masked.CompareAndSwap(secrets, nil)
		return r.maskedSecrets()
	}
	if latest := r.masked.Load(); latest != nil {
		secrets = latest
	}
	return *secrets, nil
}

// readSecrets reads the run's secrets from the log.
func (r *trackedRun) readSecrets() (secrets mask.Secrets, err error) {
	for batch, err := range r.core.files.Read(r.core.generatorCtx, r.id, 0) {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			if e.Kind != runlog.KindAnswered {
				continue
			}
			a, err := runlog.Decode[runlog.Answered](e)
			if err == nil && a.Sealed != nil {
				if err = r.unsealSecret(&a); err == nil {
					secrets = secrets.Add(a.AskSeq, a.Answer.Content)
				}
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return secrets, nil
}

// noteSecret keeps an answer that the generator is about to get, to mask it wherever the
// generator shows it, and in messages: there the secrets of a run that is resumed stay until the
// worker has as many again. Callers hold mu.
func (w *worker) noteSecret(a runlog.Answered) {
	w.secrets = w.secrets.Add(a.AskSeq, a.Answer.Content)
	if old := w.masked.Load(); old != nil && len(*old) > len(w.secrets) {
		return
	}
	secrets := w.secrets
	w.masked.Store(&secrets)
}

// Messages returns the recorded messages of a run, oldest first. The first has a greater
// Seq than 1 if earlier ones were dropped. The error is [ErrRunNotFound], [ErrForbidden],
// or the file system's.
func (x reader) Messages(caller generators.Caller, run string) ([]recording.Message, error) {
	if _, err := x.findRun(caller, run); err != nil {
		return nil, err
	}
	return x.messages.Messages(run)
}

// withObserver returns the context of a run's generator, whose messages to other servers are
// recorded.
func (r *trackedRun) withObserver(ctx context.Context) context.Context {
	return recording.WithObserver(ctx, func(o recording.Observed) { r.core.RecordMessage(r.id, o) })
}
