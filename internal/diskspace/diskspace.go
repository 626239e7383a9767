// Package room knows how much of a disk is free, so that what has no room is
// refused before it is tried: writing until the disk is full leaves nothing for
// those who would put it right.
package diskspace

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// DefaultMinFree is how many bytes of a disk are left free, unless somebody says
// otherwise.
const DefaultMinFree = 16 << 20

// A Disk is the one that a folder is on. It may be used from several goroutines.
type Disk struct {
	dir     string
	minFree int64

	mu         sync.Mutex
	measuredAt time.Time
	free       int64 // less what was promised since
}

// NewDisk returns the disk of a folder, of which spare bytes are to stay free.
func NewDisk(dir string, spare int64) *Disk { return &Disk{dir: dir, minFree: spare} }

// measurementTTL is how long a look at the disk is believed.
const measurementTTL = 250 * time.Millisecond

// CheckFree is [log.ErrDiskFull] if there is not even room for a large entry.
func (d *Disk) CheckFree() error {
	free, err := freeSpace(d.dir)
	if err != nil {
		return fmt.Errorf("looking how much room there is: %w", err)
	}
	if free < d.minFree+4*runlog.MaxEntryData {
		return d.fullError(free)
	}
	return nil
}

// Reserve promises room for n bytes. The error is [log.ErrDiskFull] if they would not
// leave enough free.
func (d *Disk) Reserve(n int) error { return d.reserve(int64(n), d.minFree) }

// ReserveEssential is Take for what is worth more than the room that is left free,
// whose half it may use.
func (d *Disk) ReserveEssential(n int) error { return d.reserve(int64(n), d.minFree/2) }

func (d *Disk) reserve(n, least int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); now.Sub(d.measuredAt) > measurementTTL || d.free < least+n {
		free, err := freeSpace(d.dir)
		if err != nil {
			return fmt.Errorf("looking how much room there is: %w", err)
		}
		d.measuredAt, d.free = now, free
	}
	if d.free-n < least {
		return d.fullError(d.free)
	}
	d.free -= n
	return nil
}

func (d *Disk) fullError(free int64) error {
	return fmt.Errorf("%w: %s has %d KB left, and keeps %d free", runlog.ErrDiskFull, d.dir, free>>10, d.minFree>>10)
}

// WrapDiskFull makes [log.ErrDiskFull] of a file system's error that says so.
func WrapDiskFull(err error) error {
	if err == nil || errors.Is(err, runlog.ErrDiskFull) {
		return err
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return fmt.Errorf("%w: %w", runlog.ErrDiskFull, err)
		}
	}
	return err
}
