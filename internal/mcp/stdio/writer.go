package stdio

import (
	"bufio"
	"errors"
	"io"
	"sync"
)

// ErrClosed is returned by [Writer.Send] after the writer was closed, or after its
// reader failed or fell too far behind.
var ErrClosed = errors.New("stdio: the writer is closed")

// A Writer writes messages to one stream, in order. It has no goroutine of its own: the
// first sender writes, and writes what others queue meanwhile, many messages at once.
// Its methods may be called concurrently.
type Writer struct {
	w        io.Writer
	onBroken func()

	mu          sync.Mutex
	queue       []byte // whole lines
	spareBuffer []byte
	writing     bool
	closed      bool
	drained     *sync.Cond
}

// Limits on the bytes that are queued. Beyond maxQueuedBytes, Send waits; beyond
// maxUnreadBytes, which only SendAsync can reach, the writer gives the reader up.
const (
	maxQueuedBytes = 4 << 20
	maxUnreadBytes = 64 << 20
)

// NewWriter returns a writer to w. It calls onBroken, while locked, when a write fails or
// the reader has fallen too far behind.
func NewWriter(w io.Writer, onBroken func()) *Writer {
	lw := &Writer{w: w, onBroken: onBroken}
	lw.drained = sync.NewCond(&lw.mu)
	return lw
}

// SendLarge sends a message that write writes, without holding it in memory. It waits until
// the messages before are written. If write fails when some of the message has been
// written, the stream can't be used any more.
func (w *Writer) SendLarge(write func(io.Writer) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && !w.closed {
		w.drained.Wait()
	}
	if w.closed {
		return ErrClosed
	}
	w.writing = true
	w.mu.Unlock()
	counted := &countingWriter{Writer: w.w}
	line := bufio.NewWriterSize(counted, 64<<10)
	err := write(line)
	if err == nil {
		line.WriteByte('\n') // Flush returns its error
		err = line.Flush()
	}
	w.mu.Lock()
	if err != nil && counted.n > 0 && !w.closed {
		w.fail()
	}
	w.writeQueued()
	return err
}

// A countingWriter counts the bytes that are written.
type countingWriter struct {
	io.Writer
	n int
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}

// Send queues a message, and writes the queue unless someone else already does. It waits
// while the reader has much to read.
func (w *Writer) Send(message []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > maxQueuedBytes && !w.closed {
		w.drained.Wait()
	}
	if !w.enqueue(message) {
		return ErrClosed
	}
	if !w.writing {
		w.writeQueued()
	}
	return nil
}

// SendAsync queues a message without waiting. A goroutine that reads from the client
// must not wait until the client reads, or both would wait forever.
func (w *Writer) SendAsync(message []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.enqueue(message) && !w.writing {
		w.writing = true
		go func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.writeQueued()
		}()
	}
}

// enqueue queues a line and reports whether the writer is still open. The caller holds mu.
func (w *Writer) enqueue(message []byte) bool {
	if w.closed {
		return false
	}
	w.queue = append(append(w.queue, message...), '\n')
	if len(w.queue) > maxUnreadBytes {
		w.fail()
	}
	return !w.closed
}

// fail closes the writer and reports it as broken. The caller holds mu.
func (w *Writer) fail() {
	w.closed, w.queue = true, nil
	w.drained.Broadcast()
	w.onBroken()
}

// writeQueued writes until the queue is empty. The caller holds mu, which writeQueued
// releases during each write.
func (w *Writer) writeQueued() {
	w.writing = true
	for len(w.queue) > 0 && !w.closed {
		lines := w.queue
		w.queue = w.spareBuffer[:0]
		w.mu.Unlock()
		_, err := w.w.Write(lines)
		w.mu.Lock()
		if w.spareBuffer = lines; cap(w.spareBuffer) > 1<<20 {
			w.spareBuffer = nil
		}
		w.drained.Broadcast()
		if err != nil && !w.closed {
			w.fail()
		}
	}
	w.writing = false
	w.drained.Broadcast()
}

// Flush waits until all queued messages are written, or the writer is closed.
func (w *Writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && !w.closed {
		w.drained.Wait()
	}
}

// Close discards the queue. A write that has begun is not interrupted.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed, w.queue = true, nil
	w.drained.Broadcast()
}
