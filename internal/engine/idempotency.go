package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/internal/runlog"
)

type idempotencyKey struct{ owner, key string }

// idempotencyKey returns the run's key, or the zero value if it has none.
func (r *trackedRun) idempotencyKey() idempotencyKey {
	if r.started.IdempotencyKey == "" {
		return idempotencyKey{}
	}
	return idempotencyKey{r.started.Owner, r.started.IdempotencyKey}
}

// digestRequest returns a digest of a request. Requests with the same idempotency
// key must have the same digest.
func digestRequest(s runlog.Started) [sha256.Size]byte {
	args, err := json.Marshal(s.Args) // as they are in the log
	if err != nil {
		args = s.Args
	}
	return sha256.Sum256(append([]byte(s.Photon+"\x00"), args...))
}

// resolveRepeat returns the run in reply to a repeated request, one with the run's
// idempotency key and the given digest. It waits until the first request has
// been handled.
func (r *trackedRun) resolveRepeat(digest [sha256.Size]byte) (Info, error) {
	if r.requestDigest != digest {
		return Info{}, ErrIdempotencyKeyReused
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastSeq == 0 || r.startRefused {
		return Info{}, fmt.Errorf("the first request with this idempotency key failed: %w", runlog.ErrUnavailable)
	}
	return r.info(), nil
}
