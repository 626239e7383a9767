package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
)

// connectBackend returns the current backend, and dials one if there is none.
func (p *runningProxy) connectBackend(ctx context.Context) (Backend, error) {
	if b := p.session.currentBackend(); b != nil {
		return b, nil
	}
	again := p.hasDialed
	b, err := p.Dial(ctx, again)
	if err != nil {
		return nil, err
	}
	p.hasDialed = true
	in := bufio.NewReaderSize(b, 64<<10)
	if err := p.initializeBackend(b, in); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if !p.session.attachBackend(b) {
		return nil, errors.Join(errClientLeft, b.Close())
	}
	p.backendReaders.Go(func() { p.forwardBackendLines(b, in) })
	return b, nil
}

// maxForwardedBytes is about how many bytes forwardBackendLines forwards at once.
const maxForwardedBytes = 64 << 10

// forwardBackendLines forwards the backend's lines to the client until the backend ends.
// It forwards all lines that are buffered in one write.
func (p *runningProxy) forwardBackendLines(b Backend, in *bufio.Reader) {
	var lines []byte
	for {
		start := len(lines)
		var err error
		if lines, err = appendLine(lines, in); err != nil { // a line without a newline is incomplete
			p.dropBackend(b)
			return
		}
		if !p.handleBackendLine(lines[start : len(lines)-1]) {
			lines = lines[:start]
		}
		if len(lines) < maxForwardedBytes && hasBufferedLine(in) {
			continue
		}
		if len(lines) > 0 && p.writer.Send(lines[:len(lines)-1]) != nil {
			p.dropBackend(b)
			return
		}
		if lines = lines[:0]; cap(lines) > 1<<20 {
			lines = nil
		}
	}
}

// handleBackendLine records a line of the backend, and reports whether it is for the client.
func (p *runningProxy) handleBackendLine(line []byte) bool {
	switch {
	case len(line) == 0:
		return false
	case line[0] == NoticePrefix:
		p.HandleNotice(bytes.Clone(line[1:]))
		return false
	case !isPlainNotification(line):
		p.session.trackBackendMessages(parseLine(line))
	}
	return true
}

// isPlainNotification reports whether the line, as Beam encodes it, neither opens nor
// closes a request. It decides for most lines without decoding them.
func isPlainNotification(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":"notifications/progress"`)) ||
		bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":"notifications/message"`))
}

// appendLine appends a line of any length to buf, with its newline.
func appendLine(buf []byte, in *bufio.Reader) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		buf = append(buf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
	}
}

// hasBufferedLine reports whether a whole line can be read without waiting.
func hasBufferedLine(in *bufio.Reader) bool {
	buffered, err := in.Peek(in.Buffered())
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}

// dropBackend closes the connection to a backend that ended, cancels its questions, and
// fails the requests that are pending with it. It may be called more than once.
func (p *runningProxy) dropBackend(b Backend) {
	clientRequests, backendRequests, detached := p.session.detachBackend(b)
	if !detached {
		return
	}
	_ = b.Close() // the connection is broken already
	if len(clientRequests)+len(backendRequests) > 0 {
		p.Logger.Warn("the Beam that served this client has ended", "pending", len(clientRequests), "questions", len(backendRequests))
	}
	for id := range backendRequests {
		p.sendCancelled(id)
	}
	for id, tool := range clientRequests {
		text := "Beam has ended before it answered this; ask again"
		if tool != "" {
			text = "Beam has ended while this tool ran. " + p.LossMessage(tool)
		}
		p.sendError(id, text)
	}
}
