package mcp

import "github.com/photon-beam/beam/internal/mcp/stdio"

// A stdioSender sends messages to a stdio client. A stdio stream cannot be resumed, so it
// ignores cursors.
type stdioSender struct{ *stdio.Writer }

var _ messageSender = stdioSender{}

func (s stdioSender) setResumeCursor(string) {}

// send implements [messageSender]. It waits while the client has much to read.
func (s stdioSender) send(_ string, message []byte) error {
	if s.Send(message) != nil {
		return errClientGone
	}
	return nil
}

// sendReply sends r, unless it is empty. A client that is gone needs no reply.
func (s stdioSender) sendReply(r reply) {
	if r.message != nil {
		_ = s.Send(r.message)
	}
}

// sendReplyAsync is sendReply for the goroutine that reads the client's messages, which
// must not wait until the client reads.
func (s stdioSender) sendReplyAsync(r reply) {
	if r.message != nil {
		s.SendAsync(r.message)
	}
}
