package jetstream

import (
	"fmt"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/log"
)

// room knows how much of the disk is free. The engine doesn't survive a write
// that fails, so what has no room is refused before it is tried.
type room struct {
	dir   string
	spare int64

	mu     sync.Mutex
	looked time.Time
	free   int64 // less what was promised since
}

// glance is how long a look at the disk is believed.
const glance = 250 * time.Millisecond

// ready is an error if there is not even room for a large entry.
func (r *room) ready() error {
	free, err := freeSpace(r.dir)
	if err != nil {
		return fmt.Errorf("looking how much room there is: %w", err)
	}
	if free < r.spare+4*log.MaxData {
		return r.full(free)
	}
	return nil
}

func (r *room) full(free int64) error {
	return fmt.Errorf("%w: %s has %d KB left, and keeps %d free", ErrFull, r.dir, free>>10, r.spare>>10)
}

// check is an error if n bytes would not leave enough free.
func (r *room) check(n int, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.looked) > glance || r.free < r.spare+int64(n) {
		free, err := freeSpace(r.dir)
		if err != nil {
			return fmt.Errorf("looking how much room there is: %w", err)
		}
		r.looked, r.free = now, free
	}
	r.free -= int64(n)
	if r.free < r.spare {
		return r.full(r.free + int64(n))
	}
	return nil
}
