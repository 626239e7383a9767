package nowait_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/nowait"
)

// streams are the kinds of connection that a client may have made.
var streams = map[string]func(t *testing.T) (r, w *os.File){
	"pipe": func(t *testing.T) (r, w *os.File) {
		var ends [2]int
		if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		return nonblocking(t, ends[0]), os.NewFile(uintptr(ends[1]), "w")
	},
	"socket": func(t *testing.T) (r, w *os.File) {
		ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return nonblocking(t, ends[0]), os.NewFile(uintptr(ends[1]), "w")
	},
	"file": func(t *testing.T) (r, w *os.File) {
		r, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		w, err = os.Create(t.TempDir() + "/w")
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	},
}

func nonblocking(t *testing.T, fd int) *os.File {
	t.Helper()
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "r")
}

// each runs a test with a pair of which out is what the other end reads, told of
// and not told of.
func each(t *testing.T, kinds []string, test func(t *testing.T, p *nowait.Pair, r, w *os.File)) {
	for _, kind := range kinds {
		for name, quiet := range map[string]bool{kind: false, kind + ", quiet": true} {
			t.Run(name, func(t *testing.T) {
				r, w := streams[kind](t)
				defer r.Close()
				defer w.Close()
				p := nowait.Open(r, w)
				defer p.Close()
				p.Quiet(quiet)
				test(t, p, r, w)
			})
		}
	}
}

func TestAllIsWrittenAndRead(t *testing.T) {
	each(t, []string{"pipe", "socket"}, func(t *testing.T, p *nowait.Pair, _, w *os.File) {
		said := make([]byte, 3<<20+7) // many times what a pipe holds
		rand.Read(said)
		go func() {
			defer w.Close()
			defer p.Close()
			for rest := said; len(rest) > 0; {
				n := min(len(rest), 700_000)
				if got, err := p.Out.Write(rest[:n]); got != n || err != nil {
					t.Errorf("%d bytes of %d were written: %v", got, n, err)
					return
				}
				rest = rest[n:]
			}
		}()
		got, err := io.ReadAll(p.In)
		if err != nil || !bytes.Equal(got, said) {
			t.Errorf("%d bytes were read (%v), and they are the same: %t", len(got), err, bytes.Equal(got, said))
		}
	})
}

func TestWhoeverTakesNothingAnyMoreIsAnError(t *testing.T) {
	each(t, []string{"pipe", "socket"}, func(t *testing.T, p *nowait.Pair, r, _ *os.File) {
		r.Close()
		if n, err := p.Out.Write([]byte("hello")); n != 0 || !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%d bytes were written, %v; want a broken pipe", n, err)
		}
	})
}

func TestReadingCanBeInterrupted(t *testing.T) {
	each(t, []string{"pipe", "socket"}, func(t *testing.T, p *nowait.Pair, _, _ *os.File) {
		in := p.In.(interface{ SetReadDeadline(time.Time) error })
		if err := in.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		var b [10]byte
		if n, err := p.In.Read(b[:]); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d bytes were read, %v; want the deadline", n, err)
		}
		if err := in.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Out.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if n, err := p.In.Read(b[:]); string(b[:n]) != "hello" || err != nil {
			t.Errorf("after the deadline, %q is read, %v", b[:n], err)
		}
	})
}

func TestOtherFilesAreWrittenAsTheyAre(t *testing.T) {
	each(t, []string{"file"}, func(t *testing.T, p *nowait.Pair, r, w *os.File) {
		if p.In != io.Reader(r) || p.Out != io.Writer(w) {
			t.Errorf("a file is read by %T and written by %T", p.In, p.Out)
		}
	})
}

// TestTheStreamKeepsItsMode: others may have it, too, and count on that it
// blocks.
func TestTheStreamKeepsItsMode(t *testing.T) {
	each(t, []string{"pipe", "socket"}, func(t *testing.T, p *nowait.Pair, _, w *os.File) {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), syscall.F_GETFL, 0)
		if errno != 0 || flags&syscall.O_NONBLOCK != 0 {
			t.Errorf("the flags of what is written to are %#x, %v", flags, errno)
		}
	})
}

// TestReadingWaitsInNoCallWhateverTheMode: others may have the socket, too, and
// have made it block.
func TestReadingWaitsInNoCallWhateverTheMode(t *testing.T) {
	each(t, []string{"socket"}, func(t *testing.T, p *nowait.Pair, r, _ *os.File) {
		if p.In == io.Reader(r) {
			t.Fatal("it is read as it is")
		}
		p.Quiet(true)
		conn, err := r.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Control(func(fd uintptr) { err = syscall.SetNonblock(int(fd), false) }); err != nil {
			t.Fatal(err)
		}
		read := make(chan error, 1)
		go func() {
			_, err := p.In.Read(make([]byte, 10))
			read <- err
		}()
		time.Sleep(time.Millisecond)
		_ = r.SetReadDeadline(time.Unix(1, 0))
		select {
		case err := <-read:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("reading ended with %v, want the deadline", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("reading blocks")
		}
	})
}
