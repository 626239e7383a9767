package mcp

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/run"
)

// grace is how long requests that are under way may take when the client has
// closed its end: what is answered at once still is.
const grace = time.Second

// ServeStdio serves the client at the other end of a pair of streams: a message
// a line (MCP, Transports, stdio). It returns nil when in ends, or with ctx,
// after the requests that were under way have ended or been given up. Its calls
// belong to who; pages returns the origin of Beam's pages when one is needed.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, who run.Caller, pages func() (string, error)) error {
	return s.serveStdio(ctx, in, out, s.newSession("stdio", who, pages))
}

// ServeJoined is [Server.ServeStdio] for a client of another process: when it
// leaves, this one goes on, so that runs that nobody could come back to are
// stopped.
func (s *Server) ServeJoined(ctx context.Context, in io.Reader, out io.Writer, who run.Caller, pages func() (string, error)) error {
	x := s.newSession("stdio", who, pages)
	x.joined = true
	return s.serveStdio(ctx, in, out, x)
}

func (s *Server) serveStdio(ctx context.Context, in io.Reader, out io.Writer, x *session) error {
	ending := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	c := &stdio{server: s, session: x, pipe: newPipe(out, func() { cancel(errGone) })}
	c.session.steps, c.session.identified = newStepQueue(), true
	defer s.watch(c.session.changes)()
	go c.tellChanges(ctx)
	over := make(chan error, 1)
	go func() { over <- readMessages(in, c.pipe, func(line []byte) { c.handle(ctx, line) }) }()
	var err error
	select {
	case err = <-over:
	case <-ctx.Done():
	}
	c.leave()
	deadline := time.Now().Add(grace)
	within(time.Until(deadline), func() { c.serving.Wait(); c.pipe.flush() })
	cause := errEnded
	if x.joined && ending.Err() == nil {
		cause = errLeft
	}
	c.session.end(cause)
	cancel(cause)
	c.pipe.close()
	c.session.steps.end()
	within(max(time.Until(deadline), grace/10), c.session.steps.done.Wait)
	return err
}

type stdio struct {
	server  *Server
	session *session
	pipe    *pipe
	serving sync.WaitGroup

	mu      sync.Mutex
	leaving bool // nothing more is taken in
}

// enter notes something more that is being served, unless the end has begun.
func (c *stdio) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.leaving {
		c.serving.Add(1)
	}
	return !c.leaving
}

func (c *stdio) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
}

// handle takes in one line. Calls are started and answers recorded here, in the
// order of the messages; what may wait has a goroutine of its own.
func (c *stdio) handle(ctx context.Context, line []byte) {
	if line[0] == '[' {
		c.batch(ctx, line)
		return
	}
	work, waits := c.start(ctx, line, false)
	if work == nil || !c.enter() {
		return
	}
	send := func(r reply) {
		c.pipe.reply(r)
		c.serving.Done()
	}
	if waits {
		go work(send)
		return
	}
	work(func(r reply) {
		if !c.session.steps.add(func() { send(r) }) { // the queue may wait for the client to read
			c.serving.Done()
		}
	})
}

// start takes one message in. What it returns is what is left to do, nil if
// nothing is, and whether that may wait for something.
func (c *stdio) start(ctx context.Context, raw []byte, batched bool) (left work, waits bool) {
	m, wrong := parse(raw)
	switch {
	case wrong != nil && m.isNotification():
		return nil, false // there is nothing to answer
	case wrong != nil:
		return replied(fault(m.ID, wrong)), false
	case m.isResponse():
		return func(answer func(reply)) { c.session.answered(m); answer(reply{}) }, false
	case m.isNotification():
		return func(answer func(reply)) { c.session.notified(m); answer(reply{}) }, true
	case batched && m.Method == string(mcp.MethodInitialize):
		return replied(fault(m.ID, errInitializeAlone)), false
	}
	left = c.server.admit(ctx, &exchange{session: c.session, out: c.pipe}, m, nil)
	if m.Method == string(mcp.MethodInitialize) {
		// What comes after it, perhaps in the same breath, needs it done, and
		// its answer comes first.
		c.pipe.post(left.wait())
		return nil, false
	}
	return left, m.Method != string(mcp.MethodToolsCall)
}

// batch serves a batch (MCP 2025-03-26, JSON-RPC batching): its responses come
// together, in one line.
func (c *stdio) batch(ctx context.Context, line []byte) {
	parts, refused := split(line, c.session.current())
	if refused != nil {
		c.pipe.post(fault(nil, refused))
		return
	}
	var works []work
	for _, part := range parts {
		if work, _ := c.start(ctx, part, true); work != nil {
			works = append(works, work)
		}
	}
	if c.enter() {
		go func() {
			defer c.serving.Done()
			c.pipe.reply(together(works))
		}()
	}
}

// tellChanges tells the client what changes.
func (c *stdio) tellChanges(ctx context.Context) {
	for {
		said := c.session.changes.next(ctx, nil)
		if said == nil {
			return
		}
		for _, n := range said {
			if c.pipe.send("", n) != nil {
				return
			}
		}
	}
}

// within calls f and waits for it, not longer than d: a client that takes
// nothing must not keep the server from ending.
func within(d time.Duration, f func()) {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
