package beam

import (
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOthersMayHaveStdinBlock: what a tool starts may have it, too.
func TestOthersMayHaveStdinBlock(t *testing.T) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(ends[0]), "stdin"), os.NewFile(uintptr(ends[1]), "w")
	defer r.Close()
	in, err := pollable(r, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if mode(t, r)&syscall.O_NONBLOCK != 0 {
		t.Error("stdin does not block others any more")
	}
	if err := syscall.SetNonblock(ends[0], false); err != nil {
		t.Fatal(err)
	}
	if mode(t, in)&syscall.O_NONBLOCK == 0 {
		t.Error("when others have stdin block, so does Beam's reading")
	}
	if _, err := w.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if got, err := io.ReadAll(in); string(got) != "hello" || err != nil {
		t.Errorf("%q is read, %v", got, err)
	}
}

func mode(t *testing.T, f *os.File) (flags int) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if e := conn.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }); e != nil || err != nil {
		t.Fatal(e, err)
	}
	return flags
}
