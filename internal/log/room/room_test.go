package room

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/log"
)

// What is to stay free is more than there is, and half of it is less.
func TestTake(t *testing.T) {
	dir := t.TempDir()
	free, err := freeSpace(dir)
	if err != nil || free > math.MaxInt64/4 {
		t.Skip("how much is free is not known here:", err)
	}
	d := Of(dir, free+free/2)
	if err := d.Take(1); !errors.Is(err, log.ErrFull) {
		t.Errorf("Take: %v", err)
	}
	if err := d.Ready(); !errors.Is(err, log.ErrFull) {
		t.Errorf("Ready: %v", err)
	}
	if err := d.TakeSpare(1); err != nil {
		t.Errorf("TakeSpare: %v", err)
	}
	if err := Of(dir, 4*free).TakeSpare(1); !errors.Is(err, log.ErrFull) {
		t.Errorf("TakeSpare beyond its half: %v", err)
	}
	none := Of(dir, 0)
	if err := errors.Join(none.Take(1), none.Ready()); err != nil {
		t.Errorf("with room: %v", err)
	}
}

func TestExplain(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, fmt.Errorf("writing: %w", syscall.EDQUOT), errors.New("the engine: " + syscall.ENOSPC.Error())} {
		if got := Explain(err); !errors.Is(got, log.ErrFull) {
			t.Errorf("%v is %v", err, got)
		}
	}
	for _, err := range []error{nil, syscall.EIO} {
		if got := Explain(err); got != err {
			t.Errorf("%v is %v", err, got)
		}
	}
}
