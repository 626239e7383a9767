package run

import (
	"crypto/sha256"
	"encoding/json"
	"unique"

	"github.com/photon-beam/beam/internal/log"
)

// An origin is what the entry that starts a run has in common with many others,
// which share it: of a run that waits, the lists keep little more than where it
// stands. What else the entry says is read from the log when it is needed.
type origin struct {
	photon, title  string
	owner, surface string
	version        string
	durable        bool
}

func originOf(s log.Started) unique.Handle[origin] {
	return unique.Make(origin{s.Photon, s.Title, s.Owner, s.Surface, s.Version, s.Durable})
}

// repeatable is a request with an idempotency key: a second one must be the
// same.
type repeatable struct {
	key     string
	request [sha256.Size]byte
}

// repeatableOf returns nil for a request without a key.
func repeatableOf(s log.Started) *repeatable {
	if s.Idempotency == "" {
		return nil
	}
	args, err := json.Marshal(s.Args) // as the log has them
	if err != nil {
		args = s.Args
	}
	return &repeatable{s.Idempotency, fingerprint(s.Photon, args)}
}

func fingerprint(photon string, args []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(photon+"\x00"), args...))
}
