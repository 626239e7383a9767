package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/internal/runlog"
)

type idempotencyKey struct{ owner, key string }

// idempotencyKey is empty for a run without an idempotency key.
func (r *trackedRun) idempotencyKey() idempotencyKey {
	if r.started.IdempotencyKey == "" {
		return idempotencyKey{}
	}
	return idempotencyKey{r.started.Owner, r.started.IdempotencyKey}
}

// digestOf identifies a request: a second one with the same idempotency key must
// have the same.
func digestOf(s runlog.Started) [sha256.Size]byte {
	args, err := json.Marshal(s.Args) // as the log has them
	if err != nil {
		args = s.Args
	}
	return sha256.Sum256(append([]byte(s.Photon+"\x00"), args...))
}

// resolveRepeat answers a request whose idempotency key this run has.
func (r *trackedRun) resolveRepeat(request [sha256.Size]byte) (Info, error) {
	if r.request != request {
		return Info{}, ErrIdempotencyKeyReused
	}
	r.mu.Lock() // until it has begun
	defer r.mu.Unlock()
	if r.lastSeq == 0 || r.startRefused {
		return Info{}, fmt.Errorf("the first request with this idempotency key was refused: %w", runlog.ErrUnavailable)
	}
	return r.info(), nil
}
