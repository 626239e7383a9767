package engine

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/photon-beam/beam/generators"
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

// RecordMessage records a message that went between Beam and the client that called a run,
// or the server whose tool the run calls. Its data must not change any more. Secrets in it
// are masked, and of the messages of another server's tool no more is kept than its log may
// have. If the secrets can't be known any more, no content is kept of what others send.
func (c *core) RecordMessage(run string, o recording.Observed) {
	r := c.residents.find(run)
	if r == nil { // loading it takes its mu, which a start holds
		var err error
		if r, err = c.load(run); err != nil {
			return
		}
	}
	p, found := c.photons.Lookup(r.Start.Photon)
	if !found { // then it isn't known what may be kept
		return
	}
	content := r.secretAnswers.messageMask(o.Direction)
	if s := c.supervisorOf(p); s != nil {
		keep := s.RecordedMessages(p)
		if keep == nil {
			return
		}
		masked := content
		content = func(m json.RawMessage) json.RawMessage { return keep(masked(m)) }
	}
	c.messages.Add(run, o, content)
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
