package engine

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
)

// runSecrets are the secret answers of a run. Their contents are in the log only in sealed form.
// All that reads the log, such as pages, streams and lists, sees an answer without content; the
// generator alone gets it, and wherever it is shown, it is masked. When the run ends, its key is
// deleted. The methods may be called from several goroutines.
type runSecrets struct {
	run   string
	keys  *keyring.Keyring
	files *files.Files
	ended *atomic.Bool // the run's end is recorded

	// masked are those that are masked in the run's messages; nil if they are yet to be read from
	// the log.
	masked atomic.Pointer[mask.Secrets]
	added  atomic.Int64 // how often masked has become nil because of one more
}

// noSecrets are the secrets of a run that has none.
var noSecrets mask.Secrets

// seal replaces the content of a secret answer by its sealed form.
func (s *runSecrets) seal(a *runlog.Answered) error {
	sealed, err := s.keys.Seal(s.run, a.Answer.Content)
	if err != nil {
		return err
	}
	a.Sealed, a.Answer.Content = sealed, nil
	return nil
}

// unseal restores the content of an answer, if it was sealed.
func (s *runSecrets) unseal(a *runlog.Answered) error {
	if a.Sealed == nil {
		return nil
	}
	content, err := s.keys.Unseal(s.run, a.Sealed)
	if err != nil {
		return err
	}
	a.Answer.Content, a.Sealed = content, nil
	return nil
}

// addRecorded notes that the log has one more, which no generator here was given.
func (s *runSecrets) addRecorded() {
	s.added.Add(1)
	s.masked.Store(nil)
}

// setGiven notes which were given to the generator: those are masked in messages, except that
// those of a run that is resumed stay until it was given as many again.
func (s *runSecrets) setGiven(secrets mask.Secrets) {
	if old := s.masked.Load(); old == nil || len(*old) <= len(secrets) {
		s.masked.Store(&secrets)
	}
}

// messageMask returns a function that returns a message as it may be kept. The function masks
// the secrets that are known now, or if there are more by then, those.
func (s *runSecrets) messageMask(way recording.Direction) func(json.RawMessage) json.RawMessage {
	secrets, err := s.known()
	if err != nil && !(s.ended.Load() && way == recording.Out) { // what Beam sends then has been masked in the log
		return func(json.RawMessage) json.RawMessage { return rawjson.EncodeText(mask.Mask) }
	}
	return func(m json.RawMessage) json.RawMessage {
		if later := s.masked.Load(); later != nil && len(*later) > len(secrets) {
			secrets = *later
		}
		return secrets.JSON(m)
	}
}

// known returns the secrets that are masked in the run's messages: those that its
// generator was given, or if that isn't here, those in the log. The error is the log's, or
// [keyring.ErrNoKey].
func (s *runSecrets) known() (mask.Secrets, error) {
	if secrets := s.masked.Load(); secrets != nil {
		return *secrets, nil
	}
	added, secrets := s.added.Load(), &noSecrets
	if s.keys.Has(s.run) || s.ended.Load() { // the end deletes the key
		recorded, err := s.read()
		if err != nil {
			return nil, err
		}
		secrets = &recorded
	}
	if s.masked.CompareAndSwap(nil, secrets) && s.added.Load() != added { // one more came meanwhile
		s.masked.CompareAndSwap(secrets, nil)
		return s.known()
	}
	if latest := s.masked.Load(); latest != nil {
		secrets = latest
	}
	return *secrets, nil
}

// read reads the run's secrets from the log.
func (s *runSecrets) read() (secrets mask.Secrets, err error) {
	for batch, err := range s.files.Read(context.Background(), s.run, 0) {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			if e.Kind != runlog.KindAnswered {
				continue
			}
			a, err := runlog.Decode[runlog.Answered](e)
			if err == nil && a.Sealed != nil {
				if err = s.unseal(&a); err == nil {
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

// deleteKey deletes the key of a run that has ended. That is synced first: a power failure must
// not take back the end of a run whose secrets can no longer be read.
func (c *core) deleteKey(run string) error {
	if !c.keys.Has(run) {
		return nil
	}
	if err := c.log.Sync(c.generatorCtx); err != nil {
		return err
	}
	return c.keys.Delete(run)
}

// deleteKeysOfEndedRuns deletes the keys that a process left which was killed.
func (e *Engine) deleteKeysOfEndedRuns(ctx context.Context) error {
	runs, err := e.keys.Runs()
	for _, id := range runs {
		row, rowErr := e.rows.Row(ctx, id)
		switch {
		case errors.Is(rowErr, runlog.ErrNotFound):
		case rowErr != nil:
			err = errors.Join(err, rowErr)
		case row.State.Ended():
			err = errors.Join(err, e.deleteKey(id))
		}
	}
	return err
}
