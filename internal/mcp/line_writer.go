package mcp

import (
	"io"
	"sync"
)

// A lineWriter is the one stream to a stdio client. Whoever has a message when nobody
// writes, writes, and with it what others add meanwhile. So messages keep their
// order, and one write takes many.
type lineWriter struct {
	w        io.Writer
	onBroken func() // called when a write failed, or the client takes nothing

	mu          sync.Mutex
	queue       []byte // whole lines
	spareBuffer []byte
	writing     bool
	closed      bool
	drained     *sync.Cond
}

// What may wait to be written, in bytes. Senders wait beyond the first; beyond
// the second, where only what must not wait is added, the client counts as gone.
const (
	maxQueuedBytes = 4 << 20
	maxUnreadBytes = 64 << 20
)

func newLineWriter(w io.Writer, broken func()) *lineWriter {
	lw := &lineWriter{w: w, onBroken: broken}
	lw.drained = sync.NewCond(&lw.mu)
	return lw
}

func (lw *lineWriter) setResumeCursor(string) {}

// send implements [messageSender]. It waits while the client has much to read.
func (lw *lineWriter) send(_ string, message []byte) error {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	for len(lw.queue) > maxQueuedBytes && !lw.closed {
		lw.drained.Wait()
	}
	if !lw.enqueue(message) {
		return errClientGone
	}
	if !lw.writing {
		lw.writeQueued()
	}
	return nil
}

// sendReplyAsync adds a message and waits for nothing: who reads must not wait until the
// client does.
func (lw *lineWriter) sendReplyAsync(r reply) {
	if r.message == nil {
		return
	}
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if lw.enqueue(r.message) && !lw.writing {
		lw.writing = true
		go func() {
			lw.mu.Lock()
			defer lw.mu.Unlock()
			lw.writeQueued()
		}()
	}
}

func (lw *lineWriter) sendReply(r reply) {
	if r.message != nil {
		_ = lw.send("", r.message) // a client that is gone needs no reply
	}
}

// enqueue queues a line. Callers hold mu.
func (lw *lineWriter) enqueue(message []byte) bool {
	if lw.closed {
		return false
	}
	lw.queue = append(append(lw.queue, message...), '\n')
	if len(lw.queue) > maxUnreadBytes {
		lw.dropClient()
	}
	return !lw.closed
}

// dropClient gives the client up. Callers hold mu.
func (lw *lineWriter) dropClient() {
	lw.closed, lw.queue = true, nil
	lw.drained.Broadcast()
	lw.onBroken()
}

// writeQueued writes what is queued until nothing is. Callers hold mu, which is free
// while it writes.
func (lw *lineWriter) writeQueued() {
	lw.writing = true
	for len(lw.queue) > 0 && !lw.closed {
		lines := lw.queue
		lw.queue = lw.spareBuffer[:0]
		lw.mu.Unlock()
		_, err := lw.w.Write(lines)
		lw.mu.Lock()
		if lw.spareBuffer = lines; cap(lw.spareBuffer) > 1<<20 {
			lw.spareBuffer = nil
		}
		lw.drained.Broadcast()
		if err != nil && !lw.closed {
			lw.dropClient()
		}
	}
	lw.writing = false
	lw.drained.Broadcast()
}

// flush waits until everything is written.
func (lw *lineWriter) flush() {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	for lw.writing && !lw.closed {
		lw.drained.Wait()
	}
}

// close ends the stream: what is being written is the last.
func (lw *lineWriter) close() {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	lw.closed, lw.queue = true, nil
	lw.drained.Broadcast()
}
