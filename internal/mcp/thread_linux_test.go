package mcp_test

import (
	"context"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/photon-beam/beam/generators"
)

// A goroutine that ends while locked to its thread ends the thread, and with it what
// the goroutine changed of it, such as its namespaces. Nobody else may run on it.
func TestToolThreadIsNotReused(t *testing.T) {
	photon := generators.New("threaded", func(_ context.Context, in said, _ generators.Yield) (string, error) {
		runtime.LockOSThread()
		if in.Word == "keep" {
			name := [16]byte{'k', 'e', 'p', 't'}
			return "kept", unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
		}
		defer runtime.UnlockOSThread()
		var name [16]byte
		err := unix.Prctl(unix.PR_GET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
		if name == [16]byte{'k', 'e', 'p', 't'} {
			return "another's", err
		}
		return "mine", err
	}, nil)
	w := wordClientOf(t, newTestServer(t, photon))
	for i := range 20 {
		w.call(100+i, "threaded")
		w.returns(100+i, "mine")
	}
	w.call(1, "threaded", "keep")
	w.returns(1, "kept")
	for i := range 20 {
		w.call(200+i, "threaded")
		w.returns(200+i, "mine")
	}
	w.closeAndWait()
}
