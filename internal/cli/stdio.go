package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/mcp"
)

// stdioCommand is the command that serves one MCP client over its standard streams.
type stdioCommand struct {
	Open bool `help:"Open the browser, signed in, when a question has to be answered on Beam's own page: passwords and files never travel through the MCP client."`

	appFlags
}

// Help is what --help says beside the flags.
func (*stdioCommand) Help() string {
	return "An MCP client starts this itself; its configuration names the command, as in\n\n" +
		`    {"mcpServers": {"${program}": {"command": "${program}", "args": ["stdio", "--open"]}}}` + "\n\n" +
		"If another Beam owns the data folder, such as ${program} serve, it serves the client, and runs and questions are one; else this one owns it. " +
		"Messages go over stdin and stdout, the log to stderr. The program ends when stdin does."
}

// Validate is called once the flags are read.
func (s *stdioCommand) Validate() error { return s.appFlags.validate() }

// stopTimeout is how long runs may take to end once the client has gone. With
// what the server itself takes it is less than two seconds.
const stopTimeout = 500 * time.Millisecond

// deferTimeout is how long the defers of runs that were stopped then may take.
const deferTimeout = 300 * time.Millisecond

// Run serves until stdin or ctx ends.
func (s *stdioCommand) Run(ctx context.Context, p *program) (err error) {
	signal.Ignore(syscall.SIGPIPE) // a client that takes nothing any more is an error like others
	logger := s.newLogger(p)
	c := &stdioProcess{stdioCommand: s, program: p, logger: logger, presenter: &signInPresenter{openBrowser: s.Open, stderr: p.stderr, logger: logger}}
	conn, err := c.joinOrOwn(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	in := reopenPipe(p.stdin)
	if conn == nil {
		return c.local.serve(ctx, in, p.stdout)
	}
	c.conn = conn
	return mcp.Proxy{In: in, Out: p.stdout, Dial: c.dialBackend, LossMessage: c.lossMessage, HandleNotice: c.handleNotice, Logger: logger}.Serve(ctx)
}

// reopenPipe opens a pipe once more, without blocking, so that a read of it
// waits in the runtime's poller and holds no thread. Whether the file itself
// blocks is a matter of all processes that have it. What can't be opened again
// is returned as it is.
func reopenPipe(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return f
	}
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f
	}
	return again
}

// shutdown ends the runs. What does not stop ends with the process.
func (b *app) shutdown() {
	b.control.endSessions()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
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
	case <-time.After(stopTimeout + deferTimeout):
	}
	b.web.Close()
	b.mcp.Close()
	b.control.close(0)
	if err := b.closeLog(); err != nil {
		b.logger.Error("closing the log", "err", err)
	}
}
