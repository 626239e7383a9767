// Package proxy connects an MCP client's stdio to a Beam that runs in another process,
// and keeps the client's session alive when that Beam ends and another takes its place.
package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/stdio"
)

// A Proxy serves a client over a pair of streams (MCP, Transports, stdio) by forwarding
// messages between it and a backend. When the backend ends, the client's session goes
// on: the proxy fails pending requests with an error that says why, cancels the
// backend's questions, and dials again when the client sends its next request. It then
// repeats the client's initialization to the new backend.
type Proxy struct {
	In  io.Reader
	Out io.Writer
	// Dial connects to a backend. Again reports whether the proxy had one before. The
	// proxy dials again only when the client sends a request.
	Dial func(ctx context.Context, again bool) (Backend, error)
	// LossMessage returns a sentence for the user about a call to tool whose backend ended.
	LossMessage func(tool string) string
	// HandleNotice receives the lines that a backend sends to the proxy rather than to
	// the client: those that begin with [NoticePrefix], without the prefix.
	HandleNotice func(line []byte)
	Logger       *slog.Logger
}

// A Backend is a connection to an MCP server that speaks the stdio transport.
type Backend interface {
	io.ReadWriteCloser
	// CloseWrite tells the server that the client will send nothing more.
	CloseWrite() error
}

// NoticePrefix begins a line that is for the proxy. No JSON-RPC message begins with it.
const NoticePrefix = '@'

// backendGrace is how long a backend may take to finish once the client has closed its
// end. It is longer than the backend's own grace period.
const backendGrace = stdio.ShutdownGrace + stdio.ShutdownGrace/2

var errClientLeft = errors.New("the client has left")

// Serve serves the client until In ends, ctx is done, or Out fails. It returns the error
// of the first dial, or of reading In.
func (p Proxy) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &runningProxy{Proxy: p, writer: stdio.NewWriter(p.Out, cancel), session: newSession()}
	if _, err := r.connectBackend(ctx); err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() {
		read <- stdio.ReadLines(r.In, func(line []byte) { r.forwardClientLine(ctx, line) }, r.refuseLongLine)
	}()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	r.endSession()
	return err
}

// A runningProxy is the state of one call of [Proxy.Serve].
type runningProxy struct {
	Proxy
	writer         *stdio.Writer
	session        *session
	backendReaders sync.WaitGroup
	hasDialed      bool // used only by the goroutine that reads from the client
}

// forwardClientLine forwards one line of the client to the backend.
func (p *runningProxy) forwardClientLine(ctx context.Context, line []byte) {
	messages := parseLine(line)
	for {
		if !messages.needsBackend() && p.session.currentBackend() == nil {
			return // it concerns a backend that is gone
		}
		b, err := p.connectBackend(ctx)
		if err != nil {
			p.replyUnavailable(messages, err)
			return
		}
		forward, current := p.session.trackClientMessages(b, messages)
		if !current {
			continue
		}
		if forward {
			if _, err := b.Write(append(line, '\n')); err != nil {
				p.dropBackend(b)
			}
		}
		return
	}
}

// endSession ends the session after the client has closed its end. The client still
// receives what the backend sends within backendGrace.
func (p *runningProxy) endSession() {
	if b := p.session.markClientLeft(); b != nil {
		deadline := time.Now().Add(backendGrace)
		_ = b.CloseWrite() // the backend may have closed the connection already
		stdio.WaitAtMost(time.Until(deadline), p.backendReaders.Wait)
		_ = b.Close()
	}
	stdio.WaitAtMost(stdio.ShutdownGrace/10, p.writer.Flush)
	p.writer.Close()
}
