package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Proxy serves a client over a pair of streams (MCP, Transports, stdio) by
// handing its messages on to a server that is elsewhere. When that server ends,
// the client's session goes on: what was pending gets an error that says so,
// questions are taken back, and the client's next request goes to whatever
// server [Proxy.Dial] finds then, to which the client is introduced anew.
type Proxy struct {
	In  io.Reader
	Out io.Writer
	// Dial connects to a server. Again says that there was one before. A server
	// is dialled again only when the client has a request for it.
	Dial func(ctx context.Context, again bool) (Backend, error)
	// LossMessage says to people what becomes of a tool's call whose server has ended.
	LossMessage func(tool string) string
	// HandleNotice takes what a server says to the relay and not to the client: the
	// lines that begin with [NoticePrefix], without it.
	HandleNotice func(line []byte)
	Logger       *slog.Logger
}

// A Backend is a connection to a server that speaks as [Server.ServeStdio] does.
type Backend interface {
	io.ReadWriteCloser
	// CloseWrite tells the server that the client says nothing more.
	CloseWrite() error
}

// NoticePrefix begins lines that are for the relay. No message begins with it.
const NoticePrefix = '@'

// backendGrace is how long a server may take to finish once the client has closed
// its end: a little longer than it takes itself.
const backendGrace = shutdownGrace + shutdownGrace/2

// Serve serves the client until In ends, or ctx, or nothing can be written any
// more. The error is that of the first server that was dialled, or of reading.
func (r Proxy) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &runningProxy{Proxy: r, writer: newLineWriter(r.Out, cancel), session: newProxySession()}
	if _, err := p.connectBackend(ctx); err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() { read <- readMessages(r.In, p.writer, func(line []byte) { p.forwardClientLine(ctx, line) }) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	p.endSession()
	return err
}

type runningProxy struct {
	Proxy
	writer         *lineWriter
	session        *proxySession
	backendReaders sync.WaitGroup
	hasDialed      bool // once before; the reader's own
}

// forwardClientLine hands one of the client's lines on.
func (p *runningProxy) forwardClientLine(ctx context.Context, line []byte) {
	said := peekMessages(line)
	for {
		if !said.needBackend() && p.session.currentBackend() == nil {
			return // nobody is there whom it could concern
		}
		b, err := p.connectBackend(ctx)
		if err != nil {
			p.replyUnserved(said, err)
			return
		}
		pass, there := p.session.trackClientMessages(b, said)
		if !there {
			continue
		}
		if pass {
			if _, err := b.Write(append(line, '\n')); err != nil {
				p.dropBackend(b)
			}
		}
		return
	}
}

// connectBackend is the server, dialled if there is none.
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
	if !p.session.attachBackend(b) { // the client is leaving
		return nil, errors.Join(errClientGone, b.Close())
	}
	p.backendReaders.Go(func() { p.forwardBackendLines(b, in) })
	return b, nil
}

// forwardBackendLines hands the server's lines on until it ends, as many at once as are
// there.
func (p *runningProxy) forwardBackendLines(b Backend, in *bufio.Reader) {
	var lines []byte
	for {
		begin := len(lines)
		var err error
		if lines, err = appendLine(lines, in); err != nil { // a line without its end is no message
			p.dropBackend(b)
			return
		}
		if !p.handleBackendLine(lines[begin : len(lines)-1]) {
			lines = lines[:begin]
		}
		if len(lines) < maxForwardedBytes && hasBufferedLine(in) {
			continue
		}
		if len(lines) > 0 && p.writer.send("", lines[:len(lines)-1]) != nil {
			p.dropBackend(b)
			return
		}
		if lines = lines[:0]; cap(lines) > 1<<20 {
			lines = nil
		}
	}
}

// maxForwardedBytes is about how many bytes are handed on at once.
const maxForwardedBytes = 64 << 10

// handleBackendLine takes in a line of the server's, and tells whether it is for the client.
func (p *runningProxy) handleBackendLine(line []byte) bool {
	switch {
	case len(line) == 0:
		return false
	case line[0] == NoticePrefix:
		p.HandleNotice(bytes.Clone(line[1:]))
		return false
	case !isPlainNotification(line):
		p.session.trackBackendMessages(peekMessages(line))
	}
	return true
}

// isPlainNotification tells of most lines, as a Beam writes them, that they open and
// settle nothing, without reading all of them.
func isPlainNotification(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":"notifications/progress"`)) ||
		bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":"notifications/message"`))
}

// appendLine reads a line, with its end, of any length: a result may be large.
func appendLine(to []byte, in *bufio.Reader) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		to = append(to, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return to, err
		}
	}
}

// hasBufferedLine tells whether another line is there already.
func hasBufferedLine(in *bufio.Reader) bool {
	there, err := in.Peek(in.Buffered())
	return err == nil && bytes.IndexByte(there, '\n') >= 0
}

// replyUnserved answers requests that no server could be found for.
func (p *runningProxy) replyUnserved(said []peekedMessage, err error) {
	p.Logger.Error("no Beam can serve the client", "err", err)
	for _, m := range said {
		if m.isRequest() {
			p.writer.sendReplyAsync(errorReply(m.ID, rpcErrorf(mcp.INTERNAL_ERROR, "Beam has ended, and could not be started again; its log says why")))
		}
	}
}

// dropBackend ends the connection to a server that has gone, and tells the client what
// that means for what is open. It may be called many times.
func (p *runningProxy) dropBackend(b Backend) {
	pending, asked, was := p.session.detachBackend(b)
	if !was {
		return
	}
	_ = b.Close() // it is broken as it is
	if len(pending)+len(asked) > 0 {
		p.Logger.Warn("the Beam that served this client has ended", "pending", len(pending), "questions", len(asked))
	}
	for id := range asked {
		params := map[string]any{"requestId": json.RawMessage(id), "reason": "Beam has ended"}
		p.writer.sendReplyAsync(reply{message: encodeNotification("notifications/cancelled", params)})
	}
	for id, tool := range pending {
		text := "Beam has ended before it answered this; ask again"
		if tool != "" {
			text = "Beam has ended while this tool ran. " + p.LossMessage(tool)
		}
		p.writer.sendReplyAsync(errorReply(json.RawMessage(id), rpcErrorf(mcp.INTERNAL_ERROR, "%s", text)))
	}
}

// endSession ends the session once the client has closed its end: what the server is
// about to answer still arrives.
func (p *runningProxy) endSession() {
	if b := p.session.markClientLeft(); b != nil {
		deadline := time.Now().Add(backendGrace)
		_ = b.CloseWrite() // it may have gone meanwhile
		waitAtMost(time.Until(deadline), p.backendReaders.Wait)
		_ = b.Close()
	}
	waitAtMost(shutdownGrace/10, p.writer.flush)
	p.writer.close()
}
