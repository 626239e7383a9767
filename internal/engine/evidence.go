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
	if !ok || runlog.DigestEvidence(q.Evidence) == past.evidence {
		return nil
	}
	if w.firstOwnAsk > 0 && past.seq >= w.firstOwnAsk { // this program has asked it
		return toolErrorf("the tool is not deterministic: the question %q now shows something else than when it was asked. "+
			"What it shows must come from the arguments, from answers and from steps", c.Key)
	}
	return toolErrorf("the question %q now shows something else than when it was asked: the tool has changed since, or it is not deterministic. "+
		"What it shows must come from the arguments, from answers and from steps", c.Key)
}
