package servecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/mcp/proxy"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// Stdio serves one MCP client over stdin and stdout.
type Stdio struct {
	HelpAll command.HelpAll `env:"-" help:"Show this manual with all flags."`

	Open bool `common:"" help:"Open the browser, signed in, when a question has to be answered on Beam's own page: passwords and files never travel through the MCP client."`

	Upstream string `common:"" placeholder:"NAME" help:"Serve only the tools, resources and prompts of this upstream, under its own names."`

	command.AppFlags
}

// Help returns what --help says besides the flags.
func (*Stdio) Help() string {
	return "An MCP client starts this command itself, with a configuration such as\n\n" +
		`    {"mcpServers": {"${program}": {"command": "${program}", "args": ["stdio", "--open"]}}}` + "\n\n" +
		"If another Beam owns the data folder, such as ${program} serve, it serves the client, so that all runs and questions are in one place. Otherwise, this process owns the folder. " +
		"Messages are exchanged over stdin and stdout; the log is written to stderr. The program ends when stdin is closed."
}

// Validate checks the flags; kong calls it.
func (s *Stdio) Validate() error {
	var err error
	if s.Upstream != "" {
		if err = config.CheckName(s.Upstream); err != nil {
			err = fmt.Errorf("--upstream: %w", err)
		}
	}
	return errors.Join(err, s.AppFlags.CheckFlags())
}

// Run serves until stdin or ctx ends.
func (s *Stdio) Run(ctx context.Context, p *command.Program) (err error) {
	if err := s.Photons.CheckFlags(p, s.MayHaveUpstreams()); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // writing to a client that has gone returns an error instead
	logger := s.NewLogger(p)
	c := &stdioProcess{Stdio: s, program: p, logger: logger, presenter: &signInPresenter{openBrowser: s.Open, dir: s.RedirectDir(), stderr: p.Stderr, logger: logger}}
	conn, err := c.joinOrOwn(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	in := reopenPipe(p.Stdin)
	if conn == nil {
		return describeNoUpstream(p, c.local.serve(ctx, in, p.Stdout))
	}
	c.conn = conn
	return proxy.Proxy{In: in, Out: p.Stdout, Dial: c.dialBackend, LossMessage: c.lossMessage, HandleNotice: c.handleNotice, Logger: logger}.Serve(ctx)
}

// describeNoUpstream adds to the error for a missing upstream how to see and add some.
func describeNoUpstream(p *command.Program, err error) error {
	if errors.Is(err, app.ErrNoUpstream) {
		return fmt.Errorf("%w: %s upstream list shows those that there are", err, p.Command)
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
