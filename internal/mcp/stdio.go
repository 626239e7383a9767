package mcp

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// shutdownGrace is how long requests that are under way may take when the client has
// closed its end: what is answered at once still is.
const shutdownGrace = time.Second

// ServeStdio serves the client at the other end of a pair of streams: a message
// a line (MCP, Transports, stdio). It returns nil when in ends, or with ctx,
// after the requests that were under way have ended or been given up. Its calls
// belong to who; pages returns the origin of Beam's pages when one is needed.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, caller engine.Caller, pages func() (string, error)) error {
	return s.serveStdio(ctx, in, out, s.newSession("stdio", caller, pages))
}

// ServeProxied is [Server.ServeStdio] for a client of another process: when it
// leaves, this one goes on, so that runs that nobody could come back to are
// stopped.
func (s *Server) ServeProxied(ctx context.Context, in io.Reader, out io.Writer, caller engine.Caller, pages func() (string, error)) error {
	sess := s.newSession("stdio", caller, pages)
	sess.proxied = true
	return s.serveStdio(ctx, in, out, sess)
}

func (s *Server) serveStdio(ctx context.Context, in io.Reader, out io.Writer, sess *session) error {
	ending := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	c := &stdioConn{server: s, session: sess, writer: newLineWriter(out, func() { cancel(errClientGone) })}
	c.session.steps, c.session.identified = newStepQueue(), true
	defer s.watchChanges(c.session.changes)()
	go c.sendChanges(ctx)
	over := make(chan error, 1)
	go func() { over <- readMessages(in, c.writer, func(line []byte) { c.handle(ctx, line) }) }()
	var err error
	select {
	case err = <-over:
	case <-ctx.Done():
	}
	c.stopAccepting()
	deadline := time.Now().Add(shutdownGrace)
	waitAtMost(time.Until(deadline), func() { c.inProgress.Wait(); c.writer.flush() })
	cause := errSessionEnded
	if sess.proxied && ending.Err() == nil {
		cause = errClientLeft
	}
	c.session.endSession(cause)
	cancel(cause)
	c.writer.close()
	c.session.steps.end()
	waitAtMost(max(time.Until(deadline), shutdownGrace/10), c.session.steps.done.Wait)
	return err
}

type stdioConn struct {
	server     *Server
	session    *session
	writer     *lineWriter
	inProgress sync.WaitGroup

	mu       sync.Mutex
	stopping bool // nothing more is taken in
}

// beginServing notes something more that is being served, unless the end has begun.
func (c *stdioConn) beginServing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopping {
		c.inProgress.Add(1)
	}
	return !c.stopping
}

func (c *stdioConn) stopAccepting() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
}

// handle takes in one line. Calls are started and answers recorded here, in the
// order of the messages; what may wait has a goroutine of its own.
func (c *stdioConn) handle(ctx context.Context, line []byte) {
	if line[0] == '[' {
		c.serveBatch(ctx, line)
		return
	}
	work, waits := c.startMessage(ctx, line, false)
	if work == nil || !c.beginServing() {
		return
	}
	send := func(r reply) {
		c.writer.sendReply(r)
		c.inProgress.Done()
	}
	if waits {
		go work(send)
		return
	}
	work(func(r reply) {
		if !c.session.steps.add(func() { send(r) }) { // the queue may wait for the client to read
			c.inProgress.Done()
		}
	})
}

// startMessage takes one message in. What it returns is what is left to do, nil if
// nothing is, and whether that may wait for something.
func (c *stdioConn) startMessage(ctx context.Context, raw []byte, batched bool) (left deferredReply, waits bool) {
	m, wrong := msg.Parse(raw)
	switch {
	case wrong != nil && m.IsNotification():
		return nil, false // there is nothing to answer
	case wrong != nil:
		return immediateReply(errorReply(m.ID, wrong)), false
	case m.IsResponse():
		return func(answer func(reply)) { c.session.handleResponse(m); answer(reply{}) }, false
	case m.IsNotification():
		return func(answer func(reply)) { c.session.handleNotification(m); answer(reply{}) }, true
	case batched && m.Method == string(mcp.MethodInitialize):
		return immediateReply(errorReply(m.ID, errInitializeInBatch)), false
	}
	left = c.server.admitRequest(ctx, &requestContext{session: c.session, sender: c.writer}, m, nil)
	if m.Method == string(mcp.MethodInitialize) {
		// What comes after it, perhaps in the same breath, needs it done, and
		// its answer comes first.
		c.writer.sendReplyAsync(left.await())
		return nil, false
	}
	return left, m.Method != string(mcp.MethodToolsCall)
}

// serveBatch serves a batch (MCP 2025-03-26, JSON-RPC batching): its responses come
// together, in one line.
func (c *stdioConn) serveBatch(ctx context.Context, line []byte) {
	parts, refused := splitBatch(line, c.session.initializedClient())
	if refused != nil {
		c.writer.sendReplyAsync(errorReply(nil, refused))
		return
	}
	var works []deferredReply
	for _, part := range parts {
		if work, _ := c.startMessage(ctx, part, true); work != nil {
			works = append(works, work)
		}
	}
	if c.beginServing() {
		go func() {
			defer c.inProgress.Done()
			c.writer.sendReply(joinReplies(works))
		}()
	}
}

// sendChanges tells the client what changes.
func (c *stdioConn) sendChanges(ctx context.Context) {
	for {
		said := c.session.changes.awaitNotifications(ctx, nil)
		if said == nil {
			return
		}
		for _, n := range said {
			if c.writer.send("", n) != nil {
				return
			}
		}
	}
}

// waitAtMost calls f and waits for it, not longer than d: a client that takes
// nothing must not keep the server from ending.
func waitAtMost(d time.Duration, f func()) {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
