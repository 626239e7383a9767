// Package room knows how much of a disk is free, so that what has no room is
// refused before it is tried: writing until the disk is full leaves nothing for
// those who would put it right.
package room

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/log"
)

// Spare is how many bytes of a disk are left free, unless somebody says
// otherwise.
const Spare = 16 << 20

// A Disk is the one that a folder is on. It may be used from several goroutines.
type Disk struct {
	dir   string
	spare int64

	mu     sync.Mutex
	looked time.Time
	free   int64 // less what was promised since
}

// Of returns the disk of a folder, of which spare bytes are to stay free.
func Of(dir string, spare int64) *Disk { return &Disk{dir: dir, spare: spare} }

// glance is how long a look at the disk is believed.
const glance = 250 * time.Millisecond

// Ready is [log.ErrFull] if there is not even room for a large entry.
func (d *Disk) Ready() error {
	free, err := freeSpace(d.dir)
	if err != nil {
		return fmt.Errorf("looking how much room there is: %w", err)
	}
	if free < d.spare+4*log.MaxData {
		return d.full(free)
	}
	return nil
}

// Take promises room for n bytes. The error is [log.ErrFull] if they would not
// leave enough free.
func (d *Disk) Take(n int) error { return d.take(int64(n), d.spare) }

// TakeSpare is Take for what is worth more than the room that is left free,
// whose half it may use.
func (d *Disk) TakeSpare(n int) error { return d.take(int64(n), d.spare/2) }

func (d *Disk) take(n, least int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); now.Sub(d.looked) > glance || d.free < least+n {
		free, err := freeSpace(d.dir)
		if err != nil {
			return fmt.Errorf("looking how much room there is: %w", err)
		}
		d.looked, d.free = now, free
	}
	if d.free-n < least {
		return d.full(d.free)
	}
	d.free -= n
	return nil
}

func (d *Disk) full(free int64) error {
	return fmt.Errorf("%w: %s has %d KB left, and keeps %d free", log.ErrFull, d.dir, free>>10, d.spare>>10)
}

// Explain makes [log.ErrFull] of a file system's error that says so.
func Explain(err error) error {
	if err == nil || errors.Is(err, log.ErrFull) {
		return err
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return fmt.Errorf("%w: %w", log.ErrFull, err)
		}
	}
	return err
}
