package beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web"
)

// stdio is the command that serves one MCP client over its standard streams.
type stdio struct {
	Open bool `help:"Open the browser, signed in, when a question has to be answered on Beam's own page: passwords and files never travel through the MCP client."`

	common
}

// Help is what --help says beside the flags.
func (*stdio) Help() string {
	return "An MCP client starts this itself; its configuration names the command, as in\n\n" +
		`    {"mcpServers": {"beam": {"command": "beam", "args": ["stdio", "--open"]}}}` + "\n\n" +
		"Messages go over stdin and stdout, the log to stderr. The program ends when stdin does."
}

// Validate is called once the flags are read.
func (s *stdio) Validate() error { return s.common.validate() }

// partingTime is how long runs may take to end once the client has gone. With
// what the server itself takes it is less than two seconds.
const partingTime = 500 * time.Millisecond

// deferTime is how long the defers of runs that were stopped then may take.
const deferTime = 300 * time.Millisecond

// Run serves until stdin or ctx ends.
func (s *stdio) Run(ctx context.Context, p *program) (err error) {
	logger := s.logger(p)
	store, err := s.open()
	if errors.Is(err, errInUse) && s.Data == "" {
		store, err = besideFolder()
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.close()) }()
	b, err := s.start(ctx, p, store, logger, web.Config{})
	if err != nil {
		return err
	}
	pages := &pages{running: b, open: s.Open, stderr: p.stderr}
	defer pages.close()
	in, err := pollable(p.stdin, p.stdout)
	if err != nil {
		return err
	}
	defer in.Close()
	signal.Ignore(syscall.SIGPIPE) // a client that takes nothing any more is an error like others
	err = b.mcp.ServeStdio(ctx, in, p.stdout, run.Caller{web.Operator}, pages.origin)
	b.end()
	return err
}

// end ends the runs. What does not stop ends with the process.
func (b *running) end() {
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.engine.Close(ctx); err != nil {
			b.logger.Warn("closing the engine", "err", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(partingTime + deferTime):
	}
	b.site.Close()
	b.mcp.Close()
	if err := b.closeLog(); err != nil {
		b.logger.Error("closing the log", "err", err)
	}
}

// pages are Beam's own pages, brought up when the first question needs one.
type pages struct {
	running *running
	open    bool // opens the browser
	stderr  io.Writer

	mu      sync.Mutex
	address string
	end     func()
}

// origin returns where the pages are.
func (p *pages) origin() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.address != "" {
		return p.address, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("the page for this question can't be served: %w", err)
	}
	server := p.running.newHTTPServer()
	go server.Serve(l)
	p.address, p.end = "http://"+l.Addr().String(), func() { server.Close() }
	signIn := p.address + p.running.site.SignInPath() + "&next=/asks"
	fmt.Fprintf(p.stderr, "Questions that don't travel over MCP are answered at %s\nSign in as its operator, once: %s\n", p.address, signIn)
	if p.open {
		browser.Stdout = p.stderr // stdout is for messages alone
		go func() {
			if err := browser.OpenURL(signIn); err != nil {
				p.running.logger.Warn("no browser could be opened", "err", err)
			}
		}()
	}
	return p.address, nil
}

func (p *pages) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		p.end()
	}
}

// pollable makes reading from a pipe or socket wait in the runtime's poller,
// where it holds no thread and can be ended. Other files are read as they are,
// and one that is the output, too: that must go on to wait when it is full.
func pollable(f *os.File, out io.Writer) (*os.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("stdin can't be read: %w", err)
	}
	if info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f, nil
	}
	if o, ok := out.(*os.File); ok {
		if there, err := o.Stat(); err != nil || os.SameFile(info, there) {
			return f, nil
		}
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, fmt.Errorf("stdin can't be read: %w", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("stdin can't be read: %w", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
