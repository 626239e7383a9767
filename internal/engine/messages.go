package engine

import (
	"encoding/json"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/recording"
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
	content := r.secretAnswers.messageMask(o.Direction)
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

// Messages returns the recorded messages of a run, oldest first. The first has a greater
// Seq than 1 if earlier ones were dropped. The error is [ErrRunNotFound], [ErrForbidden],
// or the file system's.
func (x reader) Messages(caller generators.Caller, run string) ([]recording.Message, error) {
	if _, err := x.findRun(caller, run); err != nil {
		return nil, err
	}
	return x.messages.Messages(run)
}
