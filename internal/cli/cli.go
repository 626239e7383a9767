// Package cli implements the command line of a program of photons: its commands,
// flags and manual.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/term"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // the command line, a photon, or the file of models is wrong
)

// Main runs the command line of this process until it is done or SIGINT, SIGTERM or
// SIGHUP arrives, and returns the exit status. A second signal ends the process
// at once. SIGHUP is ignored if it was when the process started (nohup). Help and messages use the name under which the process was started.
func Main(photons []*generators.Photon) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if !signal.Ignored(syscall.SIGHUP) {
		ctx = untilHangUp(ctx)
	}
	go releaseIdleMemory(ctx)
	p := &program{name: programName(), command: programCommand(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	return p.run(ctx, os.Args[1:], photons)
}

// untilHangUp returns a context that ends, with [term.ErrHungUp], when SIGHUP arrives.
func untilHangUp(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	go func() {
		<-hangUps
		signal.Stop(hangUps)
		end(term.ErrHungUp)
	}()
	return ctx
}

// Run runs the command line args of a program called beam, and returns the exit
// status: 0 for success, 1 for a failure, and 2 if the command line or a photon
// is wrong.
func Run(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer, photons []*generators.Photon) int {
	p := &program{name: defaultProgramName, command: defaultProgramName, stdin: stdin, stdout: stdout, stderr: stderr}
	return p.run(ctx, args, photons)
}

// run runs the command line, prints its error, and returns the exit status.
func (p *program) run(ctx context.Context, args []string, photons []*generators.Photon) int {
	err := p.parseAndRun(ctx, args, photons)
	var misuse *usageError
	var models *llm.FileError
	var exit *exitError
	switch {
	case err == nil, errors.Is(err, errHelpShown):
		return exitOK
	case errors.As(err, &exit):
		if exit.err != nil {
			p.messagef("%s", exit.err)
		}
		return exit.status
	case errors.As(err, &misuse), errors.As(err, &models):
		p.messagef("%s", err)
		return exitUsage
	default:
		p.messagef("%s", err)
		return exitFailed
	}
}

// A usageError is an error in the command line or in a photon.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usageErrorf(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// errHelpShown stops kong once it has printed help or the version.
var errHelpShown = errors.New("help was shown")

// commandLine is the grammar of the command line: kong derives commands and flags
// from the names of its fields.
type commandLine struct {
	Version kong.VersionFlag `env:"-" help:"Print the version and exit."`

	Run    runCommand    `cmd:"" group:"run" help:"Run a photon, and answer its questions."`
	List   listCommand   `cmd:"" group:"run" help:"List the photons."`
	Show   showCommand   `cmd:"" group:"run" help:"Show a photon's parameters."`
	Ps     psCommand     `cmd:"" group:"run" help:"List the runs in progress."`
	Follow followCommand `cmd:"" group:"run" help:"Follow a run, and answer its questions."`
	Logs   logsCommand   `cmd:"" group:"run" help:"Print what a run has done."`
	Asks   asksCommand   `cmd:"" group:"run" help:"List the open questions."`
	Answer answerCommand `cmd:"" group:"run" help:"Answer a question."`
	Cancel cancelCommand `cmd:"" group:"run" help:"Stop runs."`

	Serve serveCommand `cmd:"" group:"serve" default:"withargs" help:"Serve the playground. This is what ${program} does without a command."`
	Open  openCommand  `cmd:"" group:"serve" help:"Open the playground of the running Beam, signed in."`
	Stdio stdioCommand `cmd:"" group:"serve" help:"Serve the photons to one MCP client, over stdin and stdout."`

	User userCommand `cmd:"" group:"serve" help:"Manage the people who may use a Beam that others can reach."`

	New        newCommand        `cmd:"" group:"serve" help:"Write a module with a photon of your own."`
	Dev        devCommand        `cmd:"" group:"serve" help:"Serve a program, and build it again when its source changes."`
	Connect    connectCommand    `cmd:"" group:"serve" help:"Have an MCP client start this program."`
	Upstream   upstreamCommand   `cmd:"" group:"serve" help:"Use other MCP servers' tools: add, list, check and remove servers."`
	TestServer testServerCommand `cmd:"" group:"serve" help:"Serve an MCP server for testing clients and gateways."`

	Prune   pruneCommand   `cmd:"" group:"data" help:"Delete finished runs."`
	Backup  backupCommand  `cmd:"" group:"data" help:"Back up the data folder to one file, without stopping runs."`
	Restore restoreCommand `cmd:"" group:"data" help:"Restore a backup to a new data folder."`
	Check   checkCommand   `cmd:"" group:"data" help:"Check a data folder or a backup for damage."`
	Repair  repairCommand  `cmd:"" group:"data" help:"Copy what can be read of a damaged data folder."`
	Migrate migrateCommand `cmd:"" group:"data" hidden:"" help:"Copy the runs of an earlier version now, or undo that."`

	Doctor     doctorCommand     `cmd:"" group:"data" help:"Find what is wrong with the installation, and how to mend it."`
	Completion completionCommand `cmd:"" group:"data" help:"Print a script that completes command lines in a shell."`
	VersionOf  versionCommand    `cmd:"" name:"version" group:"data" help:"Print the version."`
	Complete   completeCommand   `cmd:"" name:"complete" hidden:"" help:"Print the completions of a command line."`
}

// Check returns what is wrong with a command line, as far as can be said without running it.
func Check(args []string, photons []*generators.Photon) error {
	p := &program{name: defaultProgramName, command: defaultProgramName, stdout: io.Discard, stderr: io.Discard}
	_, err := p.parse(args, photons)
	if errors.Is(err, errHelpShown) {
		return nil
	}
	return err
}

// parseAndRun parses the command line and runs its command.
func (p *program) parseAndRun(ctx context.Context, args []string, photons []*generators.Photon) (err error) {
	defer recoverHelp(&err)
	parsed, err := p.parse(args, photons)
	if err != nil {
		return err
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(p)
}

// recoverHelp ends the panic by which kong ends once it has printed help.
func recoverHelp(err *error) {
	if v := recover(); v == errHelpShown {
		*err = errHelpShown
	} else if v != nil {
		panic(v)
	}
}

// parse parses the command line.
func (p *program) parse(args []string, photons []*generators.Photon) (_ *kong.Context, err error) {
	p.registry, err = generators.NewRegistry(photons...)
	if err != nil {
		return nil, &usageError{err}
	}
	var c commandLine
	parser, err := kong.New(&c, kong.Name(p.name), kong.DefaultEnvars("BEAM"),
		kong.Vars{"version": p.name + " " + app.Version(), "program": p.name, "clients": strings.Join(connect.Names(), ", ")}, kong.Writers(p.stdout, p.stderr), kong.Exit(func(int) { panic(errHelpShown) }),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}), kong.ExplicitGroups(commandGroups), kong.Help(p.printHelp))
	if err != nil {
		return nil, err
	}
	insertProgramName(parser, p.name)
	defer recoverHelp(&err)
	p.parser = parser
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if args, p.values, err = splitArguments(parser, args); err != nil {
		return nil, &usageError{err}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, p.parseError(err, args)
	}
	return parsed, nil
}

// parseError returns the error of a command line that kong refuses.
func (p *program) parseError(err error, args []string) error {
	if len(args) > 0 {
		if _, isPhoton := p.registry.Lookup(args[0]); isPhoton {
			return usageErrorf("%w; to run the photon: %s run %s", err, p.command, args[0])
		}
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && p.commandNamed(args[0]) == nil {
		return p.unknownCommandError(args[0])
	}
	// Kong lists the value of a flag that isn't given among those that it may have.
	text := strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1)
	if m := missingValue.FindStringSubmatch(text); m != nil {
		text = m[1] + " needs a value"
		if flag := ownFlags(p.parser, args[0])[m[1][2:]]; flag != nil && flag.PlaceHolder != "" {
			text += fmt.Sprintf(", as in %s %s", m[1], flag.PlaceHolder)
		}
	}
	if name := p.values.shadowed(text); name != "" && p.hasParameter(args, name) {
		text += fmt.Sprintf("; the parameter %s is --in-%s", name, name)
	}
	return usageErrorf("%s (see %s --help)", text, p.failedCommand(err))
}

// missingValue matches what kong says of a flag without its value.
var missingValue = regexp.MustCompile(`^(--[\w-]+): (?:missing value|expected \w+ value but got "(?:--|EOL))`)

// hasParameter reports whether a command line runs a photon of this program that has a
// parameter.
func (p *program) hasParameter(args []string, name string) bool {
	return args[0] == "run" && slices.ContainsFunc(args[1:], func(arg string) bool {
		photon, ok := p.registry.Lookup(arg)
		return ok && photon.Input().Document().Properties[name] != nil
	})
}

// commandNamed returns a command, or nil.
func (p *program) commandNamed(name string) *kong.Node {
	for _, c := range p.parser.Model.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// unknownCommandError says which command, or photon, was probably meant.
func (p *program) unknownCommandError(name string) error {
	var commands, photons []string
	for _, c := range p.parser.Model.Children {
		if !c.Hidden {
			commands = append(commands, c.Name)
		}
	}
	for _, photon := range p.registry.All() {
		photons = append(photons, photon.Name())
	}
	near := humanize.Similar(name, commands)
	if len(near) == 0 {
		for _, photon := range humanize.Similar(name, photons) {
			near = append(near, "run "+photon)
		}
	}
	if len(near) > 0 {
		return usageErrorf("there is no command %q; did you mean %s %s? (see %s --help)", name, p.command, strings.Join(near, " or "), p.name)
	}
	return usageErrorf("there is no command %q (see %s --help)", name, p.name)
}

// A program is the process as commands see it: its name, photons and standard
// streams.
type program struct {
	name           string
	command        string // how a shell starts it
	registry       *generators.Registry
	parser         *kong.Kong
	values         valueArguments // of commands that take them
	stdin          *os.File
	stdout, stderr io.Writer
}

// messagef prints a message for the user to stderr.
func (p *program) messagef(format string, args ...any) {
	fmt.Fprintf(p.stderr, "%s: %s\n", p.name, cleantext.Text(fmt.Sprintf(format, args...))) // tools say some of it
}
