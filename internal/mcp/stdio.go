package mcp

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/stdio"
	"github.com/photon-beam/beam/internal/mcp/steps"
)

// ServeStdio serves the client at the other end of a pair of streams: each message is
// one line (MCP, Transports, stdio). It returns nil when in ends or ctx is done, after
// the requests in progress have finished or their grace period has passed. The runs that
// the client starts belong to caller; pages returns the base URL of Beam's pages.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, caller generators.Caller, pages func() (string, error)) error {
	return s.serveStdio(ctx, in, out, session.New("stdio", caller, pages))
}

// ServeProxied is [Server.ServeStdio] for the client of another process. This process
// outlives the client, so when the client leaves, the runs that nobody could return to
// are cancelled.
func (s *Server) ServeProxied(ctx context.Context, in io.Reader, out io.Writer, caller generators.Caller, pages func() (string, error)) error {
	sess := session.New("stdio", caller, pages)
	sess.Proxied = true
	return s.serveStdio(ctx, in, out, sess)
}

func (s *Server) serveStdio(ctx context.Context, in io.Reader, out io.Writer, sess *session.Session) error {
	parent := ctx
	ctx, cancel := context.WithCancelCause(engine.WithMaxWait(ctx, engine.TurnWait))
	writer := stdio.NewWriter(out, func() { cancel(msg.ErrClientGone) })
	c := &stdioConn{dispatcher: s.dispatcher, session: sess, writer: stdioSender{writer}}
	c.session.Steps, c.session.Identified = steps.NewQueue(), true
	c.session.Steps.Start()
	_, closeStandalone := c.session.Stream.Open(ctx, c.writer)
	defer closeStandalone()
	defer s.sessions.addStdio(sess)()
	go c.sendChanges(ctx)
	read := make(chan error, 1)
	go func() {
		read <- stdio.ReadLines(in, func(line []byte) { c.handleLine(ctx, line) }, c.refuseLongLine)
	}()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	c.stopAccepting()
	deadline := time.Now().Add(stdio.ShutdownGrace)
	stdio.WaitAtMost(time.Until(deadline), func() { c.inProgress.Wait(); c.writer.Flush() })
	cause := requests.ErrSessionEnded
	if sess.Proxied && parent.Err() == nil {
		cause = session.ErrClientLeft
	}
	c.session.End(cause)
	cancel(cause)
	c.writer.Close()
	c.session.Steps.End()
	stdio.WaitAtMost(max(time.Until(deadline), stdio.ShutdownGrace/10), c.session.Steps.Wait)
	return err
}

// sendChanges notifies the client of changes from when it has initialized (MCP,
// Lifecycle), so that no notification comes before the response to initialize.
func (c *stdioConn) sendChanges(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-c.session.Initialized():
	}
	_ = c.session.Changes.SendNotifications(ctx, nil, sendTo(c.writer)) // its error means that the client is gone
}

// A stdioConn is the connection to one stdio client.
type stdioConn struct {
	dispatcher *dispatcher
	session    *session.Session
	writer     stdioSender
	inProgress sync.WaitGroup

	mu       sync.Mutex
	stopping bool // no further message is served
}

// beginServing adds to inProgress, unless the connection is stopping.
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

// handleLine handles one line of the client. It starts calls and records answers before
// it returns, so that they keep the order of the messages; requests that may wait get a
// goroutine.
func (c *stdioConn) handleLine(ctx context.Context, line []byte) {
	if line[0] == '[' {
		c.serveBatch(ctx, line)
		return
	}
	finish, mayBlock := c.startMessage(ctx, line, false)
	if finish == nil || !c.beginServing() {
		return
	}
	send := func(r requests.Reply) {
		c.writer.sendReply(r)
		c.inProgress.Done()
	}
	if mayBlock {
		go finish(send)
		return
	}
	finish(func(r requests.Reply) {
		if !c.session.Steps.Add(func() { send(r) }) { // the queue may wait for the client to read
			c.inProgress.Done()
		}
	})
}

// startMessage begins to serve one message. It returns a function that finishes the work,
// or nil if nothing is left to do, and reports whether that function may block.
func (c *stdioConn) startMessage(ctx context.Context, raw []byte, batched bool) (finish requests.Deferred, mayBlock bool) {
	m, invalid := msg.Parse(raw)
	switch {
	case invalid != nil && m.IsNotification():
		return nil, false // a notification gets no response
	case invalid != nil:
		return requests.Immediate(requests.ErrorReply(m.ID, invalid)), false
	case m.IsResponse():
		return func(answer func(requests.Reply)) { c.session.Requests.HandleResponse(m); answer(requests.Reply{}) }, false
	case m.IsNotification():
		return func(answer func(requests.Reply)) { c.session.HandleNotification(m); answer(requests.Reply{}) }, true
	case batched && m.Method == string(mcp.MethodInitialize):
		return requests.Immediate(requests.ErrorReply(m.ID, requests.ErrInitializeInBatch)), false
	}
	finish = c.dispatcher.admit(ctx, c.session, c.writer, m, nil)
	if m.Method == string(mcp.MethodInitialize) {
		// The client may have sent more messages already. They need the session
		// initialized, and the response to initialize comes before theirs.
		c.writer.sendReplyAsync(finish.Await())
		return nil, false
	}
	return finish, m.Method != string(mcp.MethodToolsCall)
}

// serveBatch serves a batch (MCP 2025-03-26, JSON-RPC batching) and sends its responses
// together, in one line.
func (c *stdioConn) serveBatch(ctx context.Context, line []byte) {
	parts, refused := requests.SplitBatch(line, c.session.Client())
	if refused != nil {
		c.writer.sendReplyAsync(requests.ErrorReply(nil, refused))
		return
	}
	var replies []requests.Deferred
	for _, part := range parts {
		if finish, _ := c.startMessage(ctx, part, true); finish != nil {
			replies = append(replies, finish)
		}
	}
	if c.beginServing() {
		go func() {
			defer c.inProgress.Done()
			c.writer.sendReply(requests.JoinReplies(replies))
		}()
	}
}

// refuseLongLine responds to a line that is too long to read, whose id is unknown.
func (c *stdioConn) refuseLongLine() {
	c.writer.sendReplyAsync(requests.ErrorReply(nil, msg.Errorf(mcp.INVALID_REQUEST, "a message has at most %d bytes", msg.MaxSize)))
}

// A stdioSender sends messages to a stdio client. A stdio stream cannot be resumed, so it
// ignores cursors.
type stdioSender struct{ *stdio.Writer }

var _ requests.Sender = stdioSender{}

func (s stdioSender) SetResumeCursor(string) {}

// Send implements [requests.Sender]. It waits while the client has much to read.
func (s stdioSender) Send(_ string, message []byte) error {
	if s.Writer.Send(message) != nil {
		return msg.ErrClientGone
	}
	return nil
}

// sendReply sends r, unless it is empty. A client that is gone needs no reply.
func (s stdioSender) sendReply(r requests.Reply) {
	switch {
	case r.IsLarge():
		_ = s.SendLarge(r.WriteMessage)
	case r.Message != nil:
		_ = s.Writer.Send(r.Message)
	}
}

// sendReplyAsync is sendReply for the goroutine that reads the client's messages, which
// must not wait until the client reads.
func (s stdioSender) sendReplyAsync(r requests.Reply) {
	switch {
	case r.IsLarge():
		go s.sendReply(r)
	case r.Message != nil:
		s.SendAsync(r.Message)
	}
}
