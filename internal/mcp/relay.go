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

// A Relay serves a client over a pair of streams (MCP, Transports, stdio) by
// handing its messages on to a server that is elsewhere. When that server ends,
// the client's session goes on: what was pending gets an error that says so,
// questions are taken back, and the client's next request goes to whatever
// server [Relay.Dial] finds then, to which the client is introduced anew.
type Relay struct {
	In  io.Reader
	Out io.Writer
	// Dial connects to a server. Again says that there was one before. A server
	// is dialled again only when the client has a request for it.
	Dial func(ctx context.Context, again bool) (Backend, error)
	// Lost says to people what becomes of a tool's call whose server has ended.
	Lost func(tool string) string
	// Aside takes what a server says to the relay and not to the client: the
	// lines that begin with [AsideMark], without it.
	Aside  func(line []byte)
	Logger *slog.Logger
}

// A Backend is a connection to a server that speaks as [Server.ServeStdio] does.
type Backend interface {
	io.ReadWriteCloser
	// CloseWrite tells the server that the client says nothing more.
	CloseWrite() error
}

// AsideMark begins lines that are for the relay. No message begins with it.
const AsideMark = '@'

// parting is how long a server may take to finish once the client has closed
// its end: a little longer than it takes itself.
const parting = grace + grace/2

// Serve serves the client until In ends, or ctx, or nothing can be written any
// more. The error is that of the first server that was dialled, or of reading.
func (r Relay) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &relay{Relay: r, pipe: newPipe(r.Out, cancel), session: newRelayed()}
	if _, err := x.attached(ctx); err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() { read <- readMessages(r.In, x.pipe, func(line []byte) { x.forward(ctx, line) }) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	x.leave()
	return err
}

type relay struct {
	Relay
	pipe      *pipe
	session   *relayed
	listening sync.WaitGroup
	dialled   bool // once before; the reader's own
}

// forward hands one of the client's lines on.
func (x *relay) forward(ctx context.Context, line []byte) {
	said := glance(line)
	for {
		if !said.wanting() && x.session.server() == nil {
			return // nobody is there whom it could concern
		}
		b, err := x.attached(ctx)
		if err != nil {
			x.unserved(said, err)
			return
		}
		pass, there := x.session.heard(b, said)
		if !there {
			continue
		}
		if pass {
			if _, err := b.Write(append(line, '\n')); err != nil {
				x.lose(b)
			}
		}
		return
	}
}

// attached is the server, dialled if there is none.
func (x *relay) attached(ctx context.Context) (Backend, error) {
	if b := x.session.server(); b != nil {
		return b, nil
	}
	again := x.dialled
	b, err := x.Dial(ctx, again)
	if err != nil {
		return nil, err
	}
	x.dialled = true
	in := bufio.NewReaderSize(b, 64<<10)
	if err := x.introduce(b, in); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if !x.session.attach(b) { // the client is leaving
		return nil, errors.Join(errGone, b.Close())
	}
	x.listening.Go(func() { x.listen(b, in) })
	return b, nil
}

// listen hands the server's lines on until it ends, as many at once as are
// there.
func (x *relay) listen(b Backend, in *bufio.Reader) {
	var lines []byte
	for {
		begin := len(lines)
		var err error
		if lines, err = appendLine(lines, in); err != nil { // a line without its end is no message
			x.lose(b)
			return
		}
		if !x.told(lines[begin : len(lines)-1]) {
			lines = lines[:begin]
		}
		if len(lines) < atOnce && moreLines(in) {
			continue
		}
		if len(lines) > 0 && x.pipe.send("", lines[:len(lines)-1]) != nil {
			x.lose(b)
			return
		}
		if lines = lines[:0]; cap(lines) > 1<<20 {
			lines = nil
		}
	}
}

// atOnce is about how many bytes are handed on at once.
const atOnce = 64 << 10

// told takes in a line of the server's, and tells whether it is for the client.
func (x *relay) told(line []byte) bool {
	switch {
	case len(line) == 0:
		return false
	case line[0] == AsideMark:
		x.Aside(bytes.Clone(line[1:]))
		return false
	case !plainlySaid(line):
		x.session.told(glance(line))
	}
	return true
}

// plainlySaid tells of most lines, as a Beam writes them, that they open and
// settle nothing, without reading all of them.
func plainlySaid(line []byte) bool {
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

// moreLines tells whether another line is there already.
func moreLines(in *bufio.Reader) bool {
	there, err := in.Peek(in.Buffered())
	return err == nil && bytes.IndexByte(there, '\n') >= 0
}

// unserved answers requests that no server could be found for.
func (x *relay) unserved(said []glanced, err error) {
	x.Logger.Error("no Beam can serve the client", "err", err)
	for _, m := range said {
		if m.isRequest() {
			x.pipe.post(fault(m.ID, faultf(mcp.INTERNAL_ERROR, "Beam has ended, and could not be started again; its log says why")))
		}
	}
}

// lose ends the connection to a server that has gone, and tells the client what
// that means for what is open. It may be called many times.
func (x *relay) lose(b Backend) {
	pending, asked, was := x.session.detach(b)
	if !was {
		return
	}
	_ = b.Close() // it is broken as it is
	if len(pending)+len(asked) > 0 {
		x.Logger.Warn("the Beam that served this client has ended", "pending", len(pending), "questions", len(asked))
	}
	for id := range asked {
		params := map[string]any{"requestId": json.RawMessage(id), "reason": "Beam has ended"}
		x.pipe.post(reply{message: notification("notifications/cancelled", params)})
	}
	for id, tool := range pending {
		text := "Beam has ended before it answered this; ask again"
		if tool != "" {
			text = "Beam has ended while this tool ran. " + x.Lost(tool)
		}
		x.pipe.post(fault(json.RawMessage(id), faultf(mcp.INTERNAL_ERROR, "%s", text)))
	}
}

// leave ends the session once the client has closed its end: what the server is
// about to answer still arrives.
func (x *relay) leave() {
	if b := x.session.leave(); b != nil {
		deadline := time.Now().Add(parting)
		_ = b.CloseWrite() // it may have gone meanwhile
		within(time.Until(deadline), x.listening.Wait)
		_ = b.Close()
	}
	within(grace/10, x.pipe.flush)
	x.pipe.close()
}
