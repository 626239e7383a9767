package proxy_test

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

	"github.com/photon-beam/beam/internal/mcp/proxy"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A scriptedBackend is a server that a test plays itself, message by message.
type scriptedBackend struct {
	t  *testing.T
	in *bufio.Reader // what the proxy sent
	*io.PipeWriter

	fromProxy *io.PipeWriter
	toProxy   *io.PipeReader
}

func newScriptedBackend(t *testing.T) *scriptedBackend {
	heardR, heardW := io.Pipe()
	saidR, saidW := io.Pipe()
	return &scriptedBackend{t: t, in: bufio.NewReader(heardR), PipeWriter: saidW, fromProxy: heardW, toProxy: saidR}
}

// scriptedConn is the proxy's end.
type scriptedConn struct{ *scriptedBackend }

func (n scriptedConn) Read(p []byte) (int, error)  { return n.toProxy.Read(p) }
func (n scriptedConn) Write(p []byte) (int, error) { return n.fromProxy.Write(p) }
func (n scriptedConn) CloseWrite() error           { return n.fromProxy.Close() }
func (n scriptedConn) Close() error                { return errors.Join(n.fromProxy.Close(), n.toProxy.Close()) }

func (f *scriptedBackend) expectLine(want string) {
	f.t.Helper()
	line, err := f.in.ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		f.t.Errorf("the server got %q (%v), want %s", line, err, want)
	}
}

func (f *scriptedBackend) sendLine(line string) {
	f.t.Helper()
	if _, err := fmt.Fprintln(f, line); err != nil {
		f.t.Error(err)
	}
}

// proxiedClient is a client behind a proxy.
type proxiedClient struct {
	t       *testing.T
	in      *io.PipeWriter
	out     *bufio.Reader
	done    chan error
	notices chan string
}

// startProxy starts a proxy that dials the servers one after the other.
func startProxy(t *testing.T, servers ...*scriptedBackend) *proxiedClient {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r := &proxiedClient{t, inW, bufio.NewReader(outR), make(chan error, 1), make(chan string, 10)}
	go func() {
		r.done <- proxy.Proxy{
			In: inR, Out: outW, Logger: slog.New(slog.DiscardHandler),
			Dial: func(context.Context, bool) (proxy.Backend, error) {
				if len(servers) == 0 {
					return nil, errors.New("no server is left")
				}
				f := servers[0]
				servers = servers[1:]
				return scriptedConn{f}, nil
			},
			LossMessage:  func(tool string) string { return "Alas, " + tool + "." },
			HandleNotice: func(line []byte) { r.notices <- string(line) },
		}.Serve(t.Context())
		outW.Close()
	}()
	return r
}

func (r *proxiedClient) sendLine(line string) {
	r.t.Helper()
	if _, err := fmt.Fprintln(r.in, line); err != nil {
		r.t.Error(err)
	}
}

func (r *proxiedClient) expectLine(want string) {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		r.t.Errorf("the client got %q (%v), want %s", line, err, want)
	}
}

func (r *proxiedClient) closeAndWait() {
	r.t.Helper()
	began := time.Now()
	r.in.Close()
	if rest, err := io.ReadAll(r.out); len(rest) > 0 || err != nil {
		r.t.Errorf("at the end the client got %q, %v", rest, err)
	}
	if err := <-r.done; err != nil || time.Since(began) > programtest.ExitTimeout {
		r.t.Errorf("the proxy ended with %v after %s", err, time.Since(began))
	}
}

const (
	initializeLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	setLevelLine   = `{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"error"}}`
)

// The proxy initializes each server for the client and forwards no question twice.
func TestProxyClientOutlivesServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newScriptedBackend(t), newScriptedBackend(t)
		r := startProxy(t, one, two)
		r.sendLine(initializeLine)
		one.expectLine(`"initialize"`)
		one.sendLine(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		r.expectLine(`"id":0`)
		r.sendLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		one.expectLine("initialized")
		r.sendLine(setLevelLine)
		one.expectLine("setLevel")
		one.sendLine(`{"jsonrpc":"2.0","id":"l","result":{}}`)
		r.expectLine(`"l"`)
		r.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}`)
		one.expectLine("deploy")
		r.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"taken back"}}`)
		one.expectLine("taken back")
		r.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		one.expectLine("cancelled")
		one.sendLine(`{"jsonrpc":"2.0","id":"q1","method":"elicitation/create"}`)
		r.expectLine("q1")
		one.sendLine("")
		one.sendLine(`@{"page":"x"}`)
		if got := <-r.notices; got != `{"page":"x"}` {
			t.Errorf("the notice is %s", got)
		}

		one.PipeWriter.Close()
		r.expectLine(`"method":"notifications/cancelled","params":{"reason":"Beam has ended","requestId":"q1"}`)
		r.expectLine(`"id":1,"error":{"code":-32603,"message":"Beam has ended while this tool ran. Alas, deploy."}`)

		r.sendLine(`{"jsonrpc":"2.0","id":"q1","result":{"action":"accept"}}`) // no server waits for it
		r.sendLine(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		two.expectLine(`"initialize"`)
		two.sendLine(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		two.expectLine("initialized")
		two.expectLine("setLevel")
		two.sendLine(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		two.sendLine(`{"jsonrpc":"2.0","id":"l","result":{}}`)
		two.expectLine(`"ping"`)
		r.expectLine("notifications/message")
		r.expectLine("tools/list_changed")
		two.sendLine(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		r.expectLine(`"id":3`)
		two.sendLine(`{"jsonrpc":"2.0","id":"q2","method":"elicitation/create"}`)
		r.expectLine("q2")
		r.sendLine(`{"jsonrpc":"2.0","id":"q2","result":{"action":"decline"}}`)
		two.expectLine("decline")
		go func() { io.Copy(io.Discard, two.in); two.PipeWriter.Close() }()
		r.closeAndWait()
	})
}

// The proxy responds to each request of a batch when no server can be dialed, and
// abandons a server that does not end.
func TestProxyWithoutServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		only := newScriptedBackend(t)
		r := startProxy(t, only)
		r.sendLine(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
		only.expectLine(`"ping"`)
		only.PipeWriter.Close()
		r.expectLine(`"id":1,"error":{"code":-32603,"message":"Beam has ended before it answered this; ask again"}`)
		r.sendLine(`[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
		r.expectLine(`"id":2,"error"`)
		r.expectLine(`"id":3,"error":{"code":-32603,"message":"Beam has ended, and could not be started again; its log says why"}`)
		r.closeAndWait()

		silent := newScriptedBackend(t)
		r = startProxy(t, silent)
		r.closeAndWait()
	})
}

// Messages that the client does not read do not pile up, and a client that stops
// reading does not keep the proxy from ending.
func TestProxyClientReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newScriptedBackend(t)
		r := startProxy(t, f)
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
			t.Errorf("%d MiB were read for a client that reads nothing", wrote)
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
			t.Error("the proxy is still running")
		}
		r.out.Discard(1) // unblock the writer
		r.out = nil
	})
}
