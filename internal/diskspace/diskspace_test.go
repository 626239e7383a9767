package diskspace

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// The space to leave free is more than the free space, and half of it is less.
func TestDisk(t *testing.T) {
	dir := t.TempDir()
	free, err := freeSpace(dir)
	if err != nil || free > math.MaxInt64/4 {
		t.Skip("how much is free is not known here:", err)
	}
	d := NewDisk(dir, free+free/2)
	if err := d.CheckWrite(1); !errors.Is(err, runlog.ErrDiskFull) {
		t.Errorf("CheckWrite: %v", err)
	}
	if err := d.CheckFree(); !errors.Is(err, runlog.ErrDiskFull) {
		t.Errorf("CheckFree: %v", err)
	}
	if err := d.CheckEssentialWrite(1); err != nil {
		t.Errorf("CheckEssentialWrite: %v", err)
	}
	if err := NewDisk(dir, 4*free).CheckEssentialWrite(1); !errors.Is(err, runlog.ErrDiskFull) {
		t.Errorf("CheckEssentialWrite of more than half: %v", err)
	}
	none := NewDisk(dir, 0)
	if err := errors.Join(none.CheckWrite(1), none.CheckFree()); err != nil {
		t.Errorf("with enough space: %v", err)
	}
}

func TestWrapDiskFull(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, fmt.Errorf("writing: %w", syscall.EDQUOT), errors.New("NATS server: " + syscall.ENOSPC.Error())} {
		if got := WrapDiskFull(err); !errors.Is(got, runlog.ErrDiskFull) {
			t.Errorf("%v is %v", err, got)
		}
	}
	for _, err := range []error{nil, syscall.EIO} {
		if got := WrapDiskFull(err); got != err {
			t.Errorf("%v is %v", err, got)
		}
	}
}
