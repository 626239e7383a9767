package mcp

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
)

// A helm is where the messages of a stdio client are taken in, by one goroutine
// at a time: who has the helm.
//
// To wake another goroutine for a call, and again for an answer, takes the
// runtime longer than a quick tool takes until it asks or ends. So who has read a
// call of a quick tool lets go of the helm and runs the tool; while the tool waits
// for an answer, its goroutine takes the helm and reads on. If nobody has had it
// for a while, because the tool was not quick for once, a new goroutine takes it.
type helm struct {
	lines *lines
	limit deadliner // interrupts reading; nil if nothing can: then who reads a call never runs it
	// heard takes a message in, or that there was one that is too long.
	heard func(line []byte, long bool)
	// over is told, once, why the stream has ended; nil for its end.
	over func(error)

	tool func() // that the message has left to be run; of who has the helm

	mu     sync.Mutex
	free   bool             // nobody has it
	ended  bool             // the stream has
	reader *generators.Call // that who reads waits for
	woken  bool             // the reader's call was settled elsewhere
	watch  watch
}

// A deadliner can interrupt its reads, as files, pipes and connections do.
type deadliner interface{ SetReadDeadline(time.Time) error }

func newHelm(in io.Reader, heard func(line []byte, long bool), over func(error)) *helm {
	h := &helm{lines: newLines(in), heard: heard, over: over}
	if q, ok := in.(quieter); ok {
		h.watch.quiet = q.Quiet
	}
	if d, ok := in.(deadliner); ok && d.SetReadDeadline(time.Time{}) == nil {
		h.limit = d
	}
	return h
}

// steer takes messages in until the stream ends or another goroutine has the
// helm. The caller has it.
func (h *helm) steer() {
	for more := true; more; {
		more = h.message(nil)
		if tool := h.left(); tool != nil { // the last message may have left one, too
			h.letGo()
			more = h.run(tool)
		}
	}
}

// run runs a tool, and tells whether this goroutine has the helm again.
func (h *helm) run(tool func()) bool {
	tool() // it may end this goroutine
	if !h.take() {
		return false
	}
	if threadIsKept() {
		go h.steer()
		return false
	}
	return true
}

// left is the tool that the message has left to be run, or nil.
func (h *helm) left() (tool func()) {
	tool, h.tool = h.tool, nil
	return tool
}

// threadIsKept tells whether a tool has left its goroutine locked to a thread. The
// thread ends with the goroutine, and with it what the tool changed of it, such
// as its namespaces: no other tool may be run there.
func threadIsKept() bool {
	var head [64]byte // goroutine 1 [running, locked to thread]:
	n := runtime.Stack(head[:], false)
	return bytes.Contains(head[:n], []byte(", locked to thread"))
}

// mayRun tells whether a tool may be run by who has the helm: not if other
// messages have come already. The caller has the helm.
func (h *helm) mayRun() bool { return h.limit != nil && !h.lines.more() }

// idle takes messages in until call is settled, if nobody else does. A goroutine
// of call's tool calls it, and has the helm only meanwhile. It runs no other tool,
// which might need what this one holds: who runs that relieves it.
func (h *helm) idle(call *generators.Call) {
	if !h.take() {
		return
	}
	if tool := h.readFor(call); tool != nil {
		go h.relieve(tool)
	}
}

// readFor takes messages in until call is settled, or one leaves a tool to be
// run, and lets go of the helm.
func (h *helm) readFor(call *generators.Call) (tool func()) {
	defer h.letGo() // whatever happens: a panic here would be taken for the tool's
	for more := true; more && tool == nil; {
		more = h.message(call)
		tool = h.left()
	}
	return tool
}

// relieve runs a tool and then takes messages in, as steer does.
func (h *helm) relieve(tool func()) {
	if h.run(tool) {
		h.steer()
	}
}

// settled interrupts who reads until call is settled.
func (h *helm) settled(call *generators.Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reader == call {
		h.woken = true
		_ = h.limit.SetReadDeadline(time.Unix(1, 0)) // setting it worked in newHelm
	}
}

// message takes one message in. It returns false when there is none: call was
// settled, or the stream has ended. A nil call is for who reads for nobody.
func (h *helm) message(call *generators.Call) bool {
	line, err := h.next(call)
	long := errors.Is(err, errTooLong)
	if len(line) > 0 || long {
		h.heard(line, long)
	}
	if err == nil || long {
		return true
	}
	if !errors.Is(err, errSettled) {
		h.end(err)
	}
	return false
}

// errSettled: who read for as long as its call waits need not any more.
var errSettled = errors.New("the call has its reply")

// next reads a line, until call is settled.
func (h *helm) next(call *generators.Call) ([]byte, error) {
	if call == nil {
		return h.lines.next()
	}
	h.mu.Lock()
	if _, settled := call.Settled(); settled {
		h.mu.Unlock()
		return nil, errSettled
	}
	h.reader = call
	h.mu.Unlock()
	line, err := h.lines.next()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reader = nil
	if h.woken {
		h.woken = false
		_ = h.limit.SetReadDeadline(time.Time{})
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSettled
	}
	return line, err
}

// end notes that nothing more comes.
func (h *helm) end(err error) {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	h.over(err)
}
