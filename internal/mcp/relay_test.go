package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/mcp"
)

// A far is a server that a test plays itself, message by message.
type far struct {
	t  *testing.T
	in *bufio.Reader // what the relay said
	*io.PipeWriter

	heard *io.PipeWriter
	said  *io.PipeReader
}

func newFar(t *testing.T) *far {
	heardR, heardW := io.Pipe()
	saidR, saidW := io.Pipe()
	return &far{t: t, in: bufio.NewReader(heardR), PipeWriter: saidW, heard: heardW, said: saidR}
}

// near is the relay's end.
type near struct{ *far }

func (n near) Read(p []byte) (int, error)  { return n.said.Read(p) }
func (n near) Write(p []byte) (int, error) { return n.heard.Write(p) }
func (n near) CloseWrite() error           { return n.heard.Close() }
func (n near) Close() error                { return errors.Join(n.heard.Close(), n.said.Close()) }

func (f *far) hears(want string) {
	f.t.Helper()
	line, err := f.in.ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		f.t.Errorf("the server hears %q (%v), want %s", line, err, want)
	}
}

func (f *far) says(line string) {
	f.t.Helper()
	if _, err := fmt.Fprintln(f, line); err != nil {
		f.t.Error(err)
	}
}

// relaying is a client behind a relay.
type relaying struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	done  chan error
	aside chan string
}

// relay begins a relay to servers, which it finds one after the other.
func relay(t *testing.T, servers ...*far) *relaying {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r := &relaying{t, inW, bufio.NewReader(outR), make(chan error, 1), make(chan string, 10)}
	go func() {
		r.done <- mcp.Relay{
			In: inR, Out: outW, Logger: slog.New(slog.DiscardHandler),
			Dial: func(context.Context, bool) (mcp.Backend, error) {
				if len(servers) == 0 {
					return nil, errors.New("there is none")
				}
				f := servers[0]
				servers = servers[1:]
				return near{f}, nil
			},
			Lost:  func(tool string) string { return "Alas, " + tool + "." },
			Aside: func(line []byte) { r.aside <- string(line) },
		}.Serve(t.Context())
		outW.Close()
	}()
	return r
}

func (r *relaying) says(line string) {
	r.t.Helper()
	if _, err := fmt.Fprintln(r.in, line); err != nil {
		r.t.Error(err)
	}
}

func (r *relaying) hears(want string) {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		r.t.Errorf("the client hears %q (%v), want %s", line, err, want)
	}
}

func (r *relaying) leaves() {
	r.t.Helper()
	began := time.Now()
	r.in.Close()
	if rest, err := io.ReadAll(r.out); len(rest) > 0 || err != nil {
		r.t.Errorf("at the end the client hears %q, %v", rest, err)
	}
	if err := <-r.done; err != nil || time.Since(began) > 2*time.Second {
		r.t.Errorf("it ended with %v after %s", err, time.Since(began))
	}
}

const (
	introduction = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	levels       = `{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"error"}}`
)

// The client is introduced to each server anew, and told of no question twice.
func TestARelaysClientOutlivesItsServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFar(t), newFar(t)
		r := relay(t, one, two)
		r.says(introduction)
		one.hears(`"initialize"`)
		one.says(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		r.hears(`"id":0`)
		r.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		one.hears("initialized")
		r.says(levels)
		one.hears("setLevel")
		one.says(`{"jsonrpc":"2.0","id":"l","result":{}}`)
		r.hears(`"l"`)
		r.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}`)
		one.hears("deploy")
		r.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"taken back"}}`)
		one.hears("taken back")
		r.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		one.hears("cancelled")
		one.says(`{"jsonrpc":"2.0","id":"q1","method":"elicitation/create"}`)
		r.hears("q1")
		one.says("")
		one.says(`@{"page":"x"}`)
		if got := <-r.aside; got != `{"page":"x"}` {
			t.Errorf("aside, it says %s", got)
		}

		one.PipeWriter.Close()
		r.hears(`"method":"notifications/cancelled","params":{"reason":"Beam has ended","requestId":"q1"}`)
		r.hears(`"id":1,"error":{"code":-32603,"message":"Beam has ended while this tool ran. Alas, deploy."}`)

		r.says(`{"jsonrpc":"2.0","id":"q1","result":{"action":"accept"}}`) // concerns nobody
		r.says(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		two.hears(`"initialize"`)
		two.says(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		two.hears("initialized")
		two.hears("setLevel")
		two.says(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		two.says(`{"jsonrpc":"2.0","id":"l","result":{}}`)
		two.hears(`"ping"`)
		r.hears("notifications/message")
		r.hears("tools/list_changed")
		two.says(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		r.hears(`"id":3`)
		two.says(`{"jsonrpc":"2.0","id":"q2","method":"elicitation/create"}`)
		r.hears("q2")
		r.says(`{"jsonrpc":"2.0","id":"q2","result":{"action":"decline"}}`)
		two.hears("decline")
		go func() { io.Copy(io.Discard, two.in); two.PipeWriter.Close() }()
		r.leaves()
	})
}

// Each request of a batch is answered, and so is a client for whom there is no
// server any more; a server that doesn't end is left.
func TestARelayWithoutAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		only := newFar(t)
		r := relay(t, only)
		r.says(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
		only.hears(`"ping"`)
		only.PipeWriter.Close()
		r.hears(`"id":1,"error":{"code":-32603,"message":"Beam has ended before it answered this; ask again"}`)
		r.says(`[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
		r.hears(`"id":2,"error"`)
		r.hears(`"id":3,"error":{"code":-32603,"message":"Beam has ended, and could not be started again; its log says why"}`)
		r.leaves()

		deaf := newFar(t)
		r = relay(t, deaf)
		r.leaves()
	})
}

// What a client does not read does not pile up, and who stops reading for good
// does not keep the relay from ending.
func TestARelaysClientReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFar(t)
		r := relay(t, f)
		wrote := 0
		line := strings.Repeat("x", 1<<20) + "\n"
		go func() {
			for {
				if _, err := io.WriteString(f, line); err != nil {
					return
				}
				wrote++
			}
		}()
		synctest.Wait()
		if wrote > 16 {
			t.Errorf("%d MiB were taken for a client that reads none", wrote)
		}
		r.in.Close()
		go io.Copy(io.Discard, f.in)
		time.Sleep(2 * time.Second)
		select {
		case err := <-r.done:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("it goes on")
		}
		r.out.Discard(1) // let the writer go
		r.out = nil
	})
}
