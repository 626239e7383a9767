package mcp

import (
	"io"
	"sync"
)

// A pipe is the one stream to a stdio client. Whoever has a message when nobody
// writes, writes, and with it what others add meanwhile. So messages keep their
// order, and one write takes many.
type pipe struct {
	w      io.Writer
	broken func() // called when a write failed, or the client takes nothing

	mu      sync.Mutex
	queue   []byte // whole lines
	spare   []byte
	writing bool
	closed  bool
	emptied *sync.Cond
}

// What may wait to be written, in bytes. Senders wait beyond the first; beyond
// the second, where only what must not wait is added, the client counts as gone.
const (
	maxQueue  = 4 << 20
	maxUnread = 64 << 20
)

func newPipe(w io.Writer, broken func()) *pipe {
	p := &pipe{w: w, broken: broken}
	p.emptied = sync.NewCond(&p.mu)
	return p
}

func (p *pipe) begin(string) {}

// send implements [outlet]. It waits while the client has much to read.
func (p *pipe) send(_ string, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > maxQueue && !p.closed {
		p.emptied.Wait()
	}
	if !p.add(message) {
		return errGone
	}
	if !p.writing {
		p.drain()
	}
	return nil
}

// post adds a message and waits for nothing: who reads must not wait until the
// client does.
func (p *pipe) post(r reply) {
	if r.message == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.add(r.message) && !p.writing {
		p.writing = true
		go func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.drain()
		}()
	}
}

func (p *pipe) reply(r reply) {
	if r.message != nil {
		_ = p.send("", r.message) // a client that is gone needs no reply
	}
}

// add queues a line. Callers hold mu.
func (p *pipe) add(message []byte) bool {
	if p.closed {
		return false
	}
	p.queue = append(append(p.queue, message...), '\n')
	if len(p.queue) > maxUnread {
		p.fail()
	}
	return !p.closed
}

// fail gives the client up. Callers hold mu.
func (p *pipe) fail() {
	p.closed, p.queue = true, nil
	p.emptied.Broadcast()
	p.broken()
}

// drain writes what is queued until nothing is. Callers hold mu, which is free
// while it writes.
func (p *pipe) drain() {
	p.writing = true
	for len(p.queue) > 0 && !p.closed {
		lines := p.queue
		p.queue = p.spare[:0]
		p.mu.Unlock()
		_, err := p.w.Write(lines)
		p.mu.Lock()
		if p.spare = lines; cap(p.spare) > 1<<20 {
			p.spare = nil
		}
		p.emptied.Broadcast()
		if err != nil && !p.closed {
			p.fail()
		}
	}
	p.writing = false
	p.emptied.Broadcast()
}

// flush waits until everything is written.
func (p *pipe) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.writing && !p.closed {
		p.emptied.Wait()
	}
}

// close ends the stream: what is being written is the last.
func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.queue = true, nil
	p.emptied.Broadcast()
}
