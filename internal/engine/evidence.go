package engine

import (
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// checkEvidence returns an error if a replayed question doesn't show what the recorded
// one does: whoever answers, or has answered, decides by that.
func (w *worker) checkEvidence(c *generators.Call, past *recordedCall) error {
	q, ok := ask.Of(c)
	if !ok {
		return nil
	}
	q, _ = w.secrets.Of(past.masked).Question(q)
	for _, q := range []*ask.Question{runlog.ShownQuestion(q), q} { // earlier versions recorded titles as they were
		if runlog.DigestEvidence(q.Evidence) == past.evidence {
			return nil
		}
	}
	return w.replayDiffersErrorf(past, "the question %q now shows something else than when it was asked", c.Key)
}
