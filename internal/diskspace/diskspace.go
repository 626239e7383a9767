// Package diskspace checks for free disk space before writing, so that some space
// is left to recover with when the disk is nearly full.
package diskspace

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// DefaultMinFree is the default number of bytes to leave free on a disk.
const DefaultMinFree = 16 << 20

// A Disk tracks the free space of the disk that holds a folder. Its methods may be
// called from several goroutines.
type Disk struct {
	dir     string
	minFree int64

	mu         sync.Mutex
	measuredAt time.Time
	free       int64 // at measuredAt, minus what was reserved since
}

// NewDisk returns the disk that holds a folder, of which minFree bytes are to stay
// free.
func NewDisk(dir string, minFree int64) *Disk { return &Disk{dir: dir, minFree: minFree} }

// measurementTTL is how long a measurement of the free space is reused.
const measurementTTL = 250 * time.Millisecond

// CheckFree returns [runlog.ErrDiskFull] if there is no space for a large entry.
func (d *Disk) CheckFree() error {
	free, err := freeSpace(d.dir)
	if err != nil {
		return fmt.Errorf("measuring the free disk space: %w", err)
	}
	if free < d.minFree+4*runlog.MaxEntryData {
		return d.fullError(free)
	}
	return nil
}

// Reserve reserves n bytes that the caller is about to write. The error is
// [runlog.ErrDiskFull] if that would leave less free than it should.
func (d *Disk) Reserve(n int) error { return d.reserve(int64(n), d.minFree) }

// ReserveEssential is [Disk.Reserve] for data that must not be lost: it may use
// half of the space that is otherwise left free.
func (d *Disk) ReserveEssential(n int) error { return d.reserve(int64(n), d.minFree/2) }

func (d *Disk) reserve(n, minFree int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); now.Sub(d.measuredAt) > measurementTTL || d.free < minFree+n {
		free, err := freeSpace(d.dir)
		if err != nil {
			return fmt.Errorf("measuring the free disk space: %w", err)
		}
		d.measuredAt, d.free = now, free
	}
	if d.free-n < minFree {
		return d.fullError(d.free)
	}
	d.free -= n
	return nil
}

func (d *Disk) fullError(free int64) error {
	return fmt.Errorf("%w: %s has %s left, of which %s must stay free", runlog.ErrDiskFull, d.dir, humanize.Bytes(free), humanize.Bytes(d.minFree))
}

// WrapDiskFull wraps an error with [runlog.ErrDiskFull] if it means that the disk
// or a quota is full.
func WrapDiskFull(err error) error {
	if err == nil || errors.Is(err, runlog.ErrDiskFull) {
		return err
	}
	for _, target := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, target) || strings.Contains(err.Error(), target.Error()) {
			return fmt.Errorf("%w: %w", runlog.ErrDiskFull, err)
		}
	}
	return err
}
