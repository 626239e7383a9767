// Package diskspace checks for free disk space before writing, so that some space
// is left to recover with when the disk is nearly full.
package diskspace

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// DefaultMinFree is the default number of bytes to leave free on a disk.
const DefaultMinFree = 16 << 20

// A Disk is the disk that holds a folder. It measures the free space before every
// write, which takes about a microsecond. Writes that are in progress at the same
// time don't see each other; what is left free has room for them. Its methods may be
// called concurrently.
type Disk struct {
	dir     string
	minFree int64
}

// NewDisk returns the disk that holds a folder, of which minFree bytes are to stay
// free.
func NewDisk(dir string, minFree int64) *Disk { return &Disk{dir: dir, minFree: minFree} }

// CheckFree returns [runlog.ErrDiskFull] if there is no space for a large entry.
func (d *Disk) CheckFree() error { return d.check(4*runlog.MaxEntryData, d.minFree) }

// CheckWrite returns [runlog.ErrDiskFull] if writing n bytes would leave less free
// than it should.
func (d *Disk) CheckWrite(n int) error { return d.check(int64(n), d.minFree) }

// CheckEssentialWrite is [Disk.CheckWrite] for data that must not be lost: it may
// use half of the space that is otherwise left free.
func (d *Disk) CheckEssentialWrite(n int) error { return d.check(int64(n), d.minFree/2) }

func (d *Disk) check(n, minFree int64) error {
	free, err := freeSpace(d.dir)
	if err != nil {
		return fmt.Errorf("measuring the free disk space: %w", err)
	}
	if free-n < minFree {
		return d.fullError(free)
	}
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
