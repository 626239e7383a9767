package generators

import (
	"time"

	"github.com/photon-beam/beam/internal/call"
)

// Sleep waits for a duration, beginning now; see [SleepUntil].
func Sleep(yield Yield, key string, d time.Duration) error {
	return SleepUntil(yield, key, time.Now().Add(d))
}

// SleepUntil waits until a time. The key names the sleep within its run, as it does a
// [Step]. When the sleep began and when it ends is recorded, so that a durable run that
// is replayed, also after a restart, wakes at the time that it would have otherwise, or
// at once if that has passed. While it sleeps, a durable run takes no more memory than
// one that waits for an answer after its eviction, and its time limit stands still.
//
// The error is the reason why the run ended, or [ErrSuspended].
func SleepUntil(yield Yield, key string, t time.Time) error {
	c := call.New(call.SleepKind, key, nil)
	c.Until = t
	yield((*callEvent)(c))
	return c.Wait().Err
}
