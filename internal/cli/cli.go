// Package cli is the command line of a program of photons: commands, flags and
// the manual.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/app"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked for could not be done
	exitUsage  = 2 // it was asked for wrongly
)

// Main runs the command line of this process until it is done or SIGINT or
// SIGTERM arrives, and returns the exit status. A second signal ends the process
// at once. Help and messages use the name under which the process was started.
func Main(photons []*generators.Photon) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	app.LimitMemory()
	p := &program{name: programName(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	return p.run(ctx, os.Args[1:], photons)
}

// Run runs the command line args of a program called beam, and returns the exit
// status: 0 for success, 1 for a failure, and 2 if the command line or a photon
// is wrong.
func Run(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer, photons []*generators.Photon) int {
	p := &program{name: defaultProgramName, stdin: stdin, stdout: stdout, stderr: stderr}
	return p.run(ctx, args, photons)
}

// run does what the command line says, and returns the exit status.
func (p *program) run(ctx context.Context, args []string, photons []*generators.Photon) int {
	err := p.parseAndRun(ctx, args, photons)
	var misuse *usageError
	switch {
	case err == nil, errors.Is(err, errHelpShown):
		return exitOK
	case errors.As(err, &misuse):
		p.messagef("%s", err)
		return exitUsage
	default:
		p.messagef("%s", err)
		return exitFailed
	}
}

// An usageError is a fault of whoever called the program.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usageErrorf(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// errHelpShown: the caller wanted help, and got it.
var errHelpShown = errors.New("helped")

// commandLine is the command line.
type commandLine struct {
	Version kong.VersionFlag `env:"-" help:"Print the version and exit."`

	Serve   serveCommand   `cmd:"" default:"withargs" help:"Serve the playground: pages where photons are run and their questions answered, and the HTTP interface for scripts. This is what ${program} does without a command."`
	Stdio   stdioCommand   `cmd:"" help:"Serve the photons as tools to one MCP client, over standard input and output."`
	Open    openCommand    `cmd:"" help:"Open the playground of the Beam that runs in another browser, signed in."`
	Prune   pruneCommand   `cmd:"" help:"Delete finished runs."`
	Backup  backupCommand  `cmd:"" help:"Write all that the data folder holds to one file, while runs go on."`
	Restore restoreCommand `cmd:"" help:"Make a data folder of such a file."`
	Check   checkCommand   `cmd:"" help:"Tell whether a data folder, or such a file, is whole."`
}

func (p *program) parseAndRun(ctx context.Context, args []string, photons []*generators.Photon) (err error) {
	p.registry, err = generators.NewRegistry(photons...)
	if err != nil {
		return &usageError{err}
	}
	var c commandLine
	parser, err := kong.New(&c, kong.Name(p.name), kong.Description(manual), kong.DefaultEnvars("BEAM"),
		kong.Vars{"version": p.name + " " + app.Version(), "program": p.name}, kong.Writers(p.stdout, p.stderr), kong.Exit(func(int) { panic(errHelpShown) }),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}))
	if err != nil {
		return err
	}
	insertProgramName(parser, p.name)
	defer func() {
		if v := recover(); v == errHelpShown {
			err = errHelpShown
		} else if v != nil {
			panic(v)
		}
	}()
	parsed, err := parser.Parse(args)
	if err != nil {
		return usageErrorf("%w (%s --help lists what there is)", err, p.failedCommand(err))
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(p)
}

// program is what a command works with.
type program struct {
	name           string
	registry       *generators.Registry
	stdin          *os.File
	stdout, stderr io.Writer
}

// messagef tells whoever started the program something about it.
func (p *program) messagef(format string, args ...any) {
	fmt.Fprintf(p.stderr, "%s: %s\n", p.name, fmt.Sprintf(format, args...))
}
