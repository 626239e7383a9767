package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/mcp/proxy"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// stdioCommand serves one MCP client over stdin and stdout.
type stdioCommand struct {
	Open bool `help:"Open the browser, signed in, when a question has to be answered on Beam's own page: passwords and files never travel through the MCP client."`

	Upstream string `placeholder:"NAME" help:"Serve only the tools, resources and prompts of this upstream, under its own names."`

	appFlags
}

// Help returns what --help says besides the flags.
func (*stdioCommand) Help() string {
	return "An MCP client starts this command itself, with a configuration such as\n\n" +
		`    {"mcpServers": {"${program}": {"command": "${program}", "args": ["stdio", "--open"]}}}` + "\n\n" +
		"If another Beam owns the data folder, such as ${program} serve, it serves the client, so that all runs and questions are in one place. Otherwise, this process owns the folder. " +
		"Messages are exchanged over stdin and stdout; the log is written to stderr. The program ends when stdin is closed."
}

// Validate checks the flags; kong calls it.
func (s *stdioCommand) Validate() error {
	var err error
	if s.Upstream != "" {
		if err = config.CheckName(s.Upstream); err != nil {
			err = fmt.Errorf("--upstream: %w", err)
		}
	}
	return errors.Join(err, s.appFlags.validate())
}

// Run serves until stdin or ctx ends.
func (s *stdioCommand) Run(ctx context.Context, p *program) (err error) {
	if err := s.Photons.validate(p, s.mayHaveUpstreams()); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // writing to a client that has gone returns an error instead
	logger := s.newLogger(p)
	c := &stdioProcess{stdioCommand: s, program: p, logger: logger, presenter: &signInPresenter{openBrowser: s.Open, dir: s.redirectDir(), stderr: p.stderr, logger: logger}}
	conn, err := c.joinOrOwn(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	in := reopenPipe(p.stdin)
	if conn == nil {
		return describeNoUpstream(p, c.local.serve(ctx, in, p.stdout))
	}
	c.conn = conn
	return proxy.Proxy{In: in, Out: p.stdout, Dial: c.dialBackend, LossMessage: c.lossMessage, HandleNotice: c.handleNotice, Logger: logger}.Serve(ctx)
}

// describeNoUpstream adds to the error for a missing upstream how to see and add some.
func describeNoUpstream(p *program, err error) error {
	if errors.Is(err, app.ErrNoUpstream) {
		return fmt.Errorf("%w: %s upstream list shows those that there are", err, p.command)
	}
	return err
}

// reopenPipe opens a pipe again in non-blocking mode, so that a read waits in the
// runtime's poller instead of occupying a thread. Setting the mode of f itself
// would affect every process that has it. If f is no pipe or can't be opened
// again, reopenPipe returns f.
func reopenPipe(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return f
	}
	reopened, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f
	}
	return reopened
}
