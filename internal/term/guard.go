package term

import (
	"time"

	"github.com/photon-beam/beam/internal/askdata"
)

// tooEarly tells a person that keys were not taken.
const tooEarly = "Typed too early, so it was not taken: what you typed before you could read this."

// isGuarded reports whether a key that was meant for something else could do harm: the
// question confirms what can't be undone, sends a request to a model, or asks for consent
// alone.
func (q *Question) isGuarded() bool {
	return q.Destructive || len(q.Models) > 0 || len(q.Fields) == 0 && q.Kind != askdata.KindFile
}

// A guard says how long a question takes no keys after it is drawn.
type guard struct {
	answered time.Time // when the last question was answered here
}

// guardTime is how long a guarded question takes no keys. Questions are answered in a row
// if the next one comes within rowTime.
const (
	guardTime = 500 * time.Millisecond
	rowTime   = time.Second
)

// wait returns how long q takes no keys. Who answers questions in a row waits once.
func (g *guard) wait(q *Question) time.Duration {
	if !q.isGuarded() || time.Since(g.answered) < rowTime {
		return 0
	}
	return guardTime
}
