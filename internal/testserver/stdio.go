package testserver

import (
	"context"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/stdio"
)

// lineSender sends messages as lines.
type lineSender struct{ *stdio.Writer }

// Send implements [sender].
func (l lineSender) Send(_ string, message []byte) error { return l.Writer.Send(message) }

// ServeStdio serves one client over a pair of streams until in ends or ctx is done.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := lineSender{stdio.NewWriter(out, func() { cancel(msg.ErrClientGone) })}
	s.misbehaveAtStart(w)
	sess := s.newSession()
	sess.setStream(w)
	defer s.addStream(&stream{out: w, wants: sess.wantsChanges})()
	var serving sync.WaitGroup
	read := make(chan error, 1)
	go func() {
		read <- stdio.ReadLines(in, func(line []byte) { s.handleLine(ctx, sess, w, line, &serving) }, func() {})
	}()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	cancel(errCancelled)
	stdio.WaitAtMost(stdio.ShutdownGrace, func() { serving.Wait(); w.Flush() })
	w.Close()
	return err
}

// handleLine handles a message. Requests may wait, so each has a goroutine, except for
// initialize: what follows needs the session.
func (s *Server) handleLine(ctx context.Context, sess *session, w lineSender, line []byte, serving *sync.WaitGroup) {
	m, invalid := msg.Parse(line)
	switch {
	case invalid != nil:
		w.SendAsync(msg.EncodeError(m.ID, invalid))
	case m.IsResponse():
		sess.handleResponse(m)
	case m.IsNotification():
		sess.handleNotification(m)
	case m.Method == string(mcp.MethodInitialize) && !s.isSilent():
		if response := s.serve(ctx, sess, w, m); response != nil {
			w.SendAsync(response)
		}
	default:
		serving.Go(func() {
			if response := s.serve(ctx, sess, w, m); response != nil {
				_ = w.Send("", response) // a client that is gone needs no response
			}
		})
	}
}
