package run

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/internal/log"
)

type idempotencyKey struct{ owner, key string }

// key is empty for a run without an idempotency key.
func (r *record) key() idempotencyKey {
	if r.started.Idempotency == "" {
		return idempotencyKey{}
	}
	return idempotencyKey{r.started.Owner, r.started.Idempotency}
}

// digestOf identifies a request: a second one with the same idempotency key must
// have the same.
func digestOf(s log.Started) [sha256.Size]byte {
	args, err := json.Marshal(s.Args) // as the log has them
	if err != nil {
		args = s.Args
	}
	return sha256.Sum256(append([]byte(s.Photon+"\x00"), args...))
}

// repeated answers a request whose idempotency key this run has.
func (r *record) repeated(request [sha256.Size]byte) (Info, error) {
	if r.request != request {
		return Info{}, ErrReused
	}
	r.mu.Lock() // until it has begun
	defer r.mu.Unlock()
	if r.last == 0 || r.refused {
		return Info{}, fmt.Errorf("the first request with this idempotency key was refused: %w", log.ErrUnavailable)
	}
	return r.info(), nil
}
