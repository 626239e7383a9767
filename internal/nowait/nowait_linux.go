package nowait

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Open returns the streams in and out as a pair. In must be in non-blocking
// mode, which nobody may change if it is a pipe, and is closed by the caller.
// What can't be read or written without blocking is read and written as it is.
// The pair must be closed.
func Open(in *os.File, out io.Writer) *Pair {
	p := &Pair{In: in, Out: out}
	if r, err := newReader(in, p); err == nil && waits(in) {
		p.In = r
	}
	if f, ok := out.(*os.File); ok {
		if w, err := newWriter(f, p); err == nil {
			p.Out = w
		}
	}
	return p
}

// waits tells whether reading from f waits in the runtime's poller, and so in no
// system call.
func waits(f *os.File) bool { return f.SetReadDeadline(time.Time{}) == nil }

// Close closes what Open opened.
func (p *Pair) Close() error {
	if w, ok := p.Out.(*writer); ok {
		return w.own.Close()
	}
	return nil
}

// Quiet implements what [Pair.Quiet] describes.
func (r *reader) Quiet(on bool) { r.pair.Quiet(on) }

type reader struct {
	*os.File
	pair *Pair
	conn syscall.RawConn
	call uintptr // that reads
	flag uintptr // which makes it one that doesn't block; a pipe is in such a mode
}

func newReader(f *os.File, p *Pair) (*reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := &reader{File: f, pair: p, call: syscall.SYS_READ}
	if info.Mode()&os.ModeSocket != 0 { // whose mode others may change
		r.call, r.flag = syscall.SYS_RECVFROM, syscall.MSG_DONTWAIT
	}
	r.conn, err = f.SyscallConn()
	return r, err
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (n int, err error) {
	if !r.pair.quiet.Load() || len(p) == 0 {
		return r.File.Read(p)
	}
	err = r.conn.Read(func(fd uintptr) bool {
		if !r.pair.quiet.Load() { // any more: it has waited
			return true
		}
		got, errno := raw(r.call, fd, p, r.flag)
		n = got
		return errno != syscall.EAGAIN // else it waits in the poller
	})
	if n > 0 || err != nil {
		return n, err
	}
	return r.File.Read(p) // which says why there is nothing
}

// A writer writes to a file that may block its writers.
type writer struct {
	file *os.File
	pair *Pair
	own  *os.File // the same stream, in non-blocking mode
	conn syscall.RawConn
	call uintptr // that writes
	flag uintptr // which makes it one that doesn't block
}

var errOther = errors.New("this is no pipe and no socket")

func newWriter(f *os.File, p *Pair) (*writer, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	w := &writer{file: f, pair: p, call: syscall.SYS_WRITE}
	// A socket can't be opened again, but there each call can say that it must not
	// block.
	switch {
	case info.Mode()&os.ModeNamedPipe != 0:
		w.own, err = Again(f, os.O_WRONLY)
	case info.Mode()&os.ModeSocket != 0:
		var fd int
		if fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			w.own, w.call, w.flag = os.NewFile(uintptr(fd), f.Name()), syscall.SYS_SENDTO, syscall.MSG_DONTWAIT
		}
	default:
		err = errOther
	}
	if err != nil {
		return nil, err
	}
	w.conn, err = w.own.SyscallConn()
	return w, err
}

// Write implements [io.Writer].
func (w *writer) Write(p []byte) (n int, err error) {
	if w.pair.quiet.Load() && len(p) > 0 {
		_ = w.conn.Write(func(fd uintptr) bool { n, _ = raw(w.call, fd, p, w.flag); return true })
	}
	if n < len(p) {
		var rest int
		rest, err = w.file.Write(p[n:])
		n += rest
	}
	return n, err
}

// raw makes a system call that transfers p, without telling the runtime.
func raw(call, fd uintptr, p []byte, flag uintptr) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(call, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flag, 0, 0)
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
