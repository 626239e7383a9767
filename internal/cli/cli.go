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
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/cli/datacmd"
	"github.com/photon-beam/beam/internal/cli/runcmd"
	"github.com/photon-beam/beam/internal/cli/servecmd"
	"github.com/photon-beam/beam/internal/cli/upstreamcmd"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/term"
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
	p := &process{&command.Program{Name: command.NameOfProcess(), Command: command.CommandOfProcess(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}}
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
	p := &process{&command.Program{Name: command.DefaultProgramName, Command: command.DefaultProgramName, Stdin: stdin, Stdout: stdout, Stderr: stderr}}
	return p.run(ctx, args, photons)
}

// A process runs command lines of a program.
type process struct{ *command.Program }

// run runs the command line, prints its error, and returns the exit status.
func (p *process) run(ctx context.Context, args []string, photons []*generators.Photon) int {
	err := p.parseAndRun(ctx, args, photons)
	var misuse *command.UsageError
	var models *llm.FileError
	var exit *command.ExitError
	switch {
	case err == nil, errors.Is(err, errHelpShown):
		return command.ExitOK
	case errors.As(err, &exit):
		if exit.Err != nil {
			p.Messagef("%s", exit.Err)
		}
		return exit.Status
	case errors.As(err, &misuse), errors.As(err, &models):
		p.Messagef("%s", err)
		return command.ExitUsage
	default:
		p.Messagef("%s", err)
		return command.ExitFailed
	}
}

// errHelpShown stops kong once it has printed help or the version.
var errHelpShown = errors.New("help was shown")

// commandLine is the grammar of the command line: kong derives commands and flags
// from the names of its fields.
type commandLine struct {
	Version kong.VersionFlag `env:"-" help:"Print the version and exit."`

	Run    runcmd.Run    `cmd:"" group:"run" help:"Run a photon, and answer its questions."`
	List   runcmd.List   `cmd:"" group:"run" help:"List the photons."`
	Show   runcmd.Show   `cmd:"" group:"run" help:"Show a photon's parameters."`
	Ps     runcmd.Ps     `cmd:"" group:"run" help:"List the runs in progress."`
	Follow runcmd.Follow `cmd:"" group:"run" help:"Follow a run, and answer its questions."`
	Logs   runcmd.Logs   `cmd:"" group:"run" help:"Print what a run has done."`
	Asks   runcmd.Asks   `cmd:"" group:"run" help:"List the open questions."`
	Answer runcmd.Answer `cmd:"" group:"run" help:"Answer a question."`
	Fork   runcmd.Fork   `cmd:"" group:"run" help:"Go on from a point of a run in a new run."`
	Cancel runcmd.Cancel `cmd:"" group:"run" help:"Stop runs."`

	Serve servecmd.Serve `cmd:"" group:"serve" default:"withargs" help:"Serve the playground. This is what ${program} does without a command."`
	Open  servecmd.Open  `cmd:"" group:"serve" help:"Open the playground of the running Beam, signed in."`
	Stdio servecmd.Stdio `cmd:"" group:"serve" help:"Serve the photons to one MCP client, over stdin and stdout."`

	User userCommand `cmd:"" group:"serve" help:"Manage the people who may use a Beam that others can reach."`

	New        newCommand           `cmd:"" group:"serve" help:"Write a module with a photon of your own."`
	Dev        servecmd.Dev         `cmd:"" group:"serve" help:"Serve a program, and build it again when its source changes."`
	Connect    upstreamcmd.Connect  `cmd:"" group:"serve" help:"Have an MCP client start this program."`
	Upstream   upstreamcmd.Upstream `cmd:"" group:"serve" help:"Use other MCP servers' tools: add, list, check and remove servers."`
	TestServer servecmd.TestServer  `cmd:"" group:"serve" help:"Serve an MCP server for testing clients and gateways."`

	Prune    datacmd.Prune    `cmd:"" group:"data" help:"Delete finished runs."`
	Backup   datacmd.Backup   `cmd:"" group:"data" help:"Back up the data folder to one file, without stopping runs."`
	Restore  datacmd.Restore  `cmd:"" group:"data" help:"Restore a backup to a new data folder."`
	Check    datacmd.Check    `cmd:"" group:"data" help:"Check a data folder or a backup for damage."`
	Rehearse datacmd.Rehearse `cmd:"" group:"data" help:"Say which unfinished runs would go on with a new program."`
	Repair   datacmd.Repair   `cmd:"" group:"data" help:"Copy what can be read of a damaged data folder."`
	Migrate  datacmd.Migrate  `cmd:"" group:"data" hidden:"" help:"Copy the runs of an earlier version now, or undo that."`

	Doctor     datacmd.Doctor    `cmd:"" group:"data" help:"Find what is wrong with the installation, and how to mend it."`
	Completion runcmd.Completion `cmd:"" group:"data" help:"Print a script that completes command lines in a shell."`
	VersionOf  versionCommand    `cmd:"" hidden:"" name:"version" group:"data" help:"Print the version."`
	Complete   runcmd.Complete   `cmd:"" name:"complete" hidden:"" help:"Print the completions of a command line."`
}

// Check returns what is wrong with a command line, as far as can be said without running it.
func Check(args []string, photons []*generators.Photon) error {
	p := &process{&command.Program{Name: command.DefaultProgramName, Command: command.DefaultProgramName, Stdout: io.Discard, Stderr: io.Discard}}
	_, err := p.parse(args, photons)
	if errors.Is(err, errHelpShown) {
		return nil
	}
	return err
}

// parseAndRun parses the command line and runs its command.
func (p *process) parseAndRun(ctx context.Context, args []string, photons []*generators.Photon) (err error) {
	defer recoverHelp(&err)
	parsed, err := p.parse(args, photons)
	if err != nil {
		return err
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(p.Program)
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
func (p *process) parse(args []string, photons []*generators.Photon) (_ *kong.Context, err error) {
	p.Registry, err = registry.NewRegistry(photons...)
	if err != nil {
		return nil, &command.UsageError{Err: err}
	}
	var c commandLine
	parser, err := kong.New(&c, kong.Name(p.Name), kong.DefaultEnvars("BEAM"),
		kong.Vars{"version": p.Name + " " + app.Version(), "program": p.Name, "clients": strings.Join(connect.Names(), ", ")}, kong.Writers(p.Stdout, p.Stderr), kong.Exit(func(int) { panic(errHelpShown) }),
		kong.ConfigureHelp(command.HelpOptions), kong.ExplicitGroups(commandGroups), kong.Help(p.printHelp))
	if err != nil {
		return nil, err
	}
	p.InsertNames(parser)
	defer recoverHelp(&err)
	p.Parser = parser
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if args, p.Values, err = command.SplitArguments(parser, args); err != nil {
		return nil, &command.UsageError{Err: err}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, p.parseError(err, args)
	}
	return parsed, nil
}

// parseError returns the error of a command line that kong refuses.
func (p *process) parseError(err error, args []string) error {
	if len(args) > 0 {
		if _, isPhoton := p.Registry.Lookup(args[0]); isPhoton {
			return command.UsageErrorf("%w; to run the photon: %s run %s", err, p.Command, args[0])
		}
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && p.commandNamed(args[0]) == nil {
		return p.unknownCommandError(args[0])
	}
	// Kong lists the value of a flag that isn't given among those that it may have.
	text := strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1)
	if m := missingValue.FindStringSubmatch(text); m != nil {
		text = m[1] + " needs a value"
		if flag := command.OwnFlags(p.Parser, args[0])[m[1][2:]]; flag != nil && flag.PlaceHolder != "" {
			text += fmt.Sprintf(", as in %s %s", m[1], flag.PlaceHolder)
		}
	}
	if name := p.Values.Shadowed(text); name != "" && p.hasParameter(args, name) {
		text += fmt.Sprintf("; the parameter %s is --in-%s", name, name)
	}
	return command.UsageErrorf("%s (see %s --help)", text, p.failedCommand(err))
}

// missingValue matches what kong says of a flag without its value.
var missingValue = regexp.MustCompile(`^(--[\w-]+): (?:missing value|expected \w+ value but got "(?:--|EOL))`)

// hasParameter reports whether a command line runs a photon of this program that has a
// parameter.
func (p *process) hasParameter(args []string, name string) bool {
	return args[0] == "run" && slices.ContainsFunc(args[1:], func(arg string) bool {
		photon, ok := p.Registry.Lookup(arg)
		return ok && photon.Input().Document().Properties[name] != nil
	})
}

// commandNamed returns a command, or nil.
func (p *process) commandNamed(name string) *kong.Node {
	for _, c := range p.Parser.Model.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// unknownCommandError says which command, or photon, was probably meant.
func (p *process) unknownCommandError(name string) error {
	var commands, photons []string
	for _, c := range p.Parser.Model.Children {
		if !c.Hidden {
			commands = append(commands, c.Name)
		}
	}
	for _, photon := range p.Registry.All() {
		photons = append(photons, photon.Name())
	}
	near := humanize.Similar(name, commands)
	if len(near) == 0 {
		for _, photon := range humanize.Similar(name, photons) {
			near = append(near, "run "+photon)
		}
	}
	if len(near) > 0 {
		return command.UsageErrorf("there is no command %q; did you mean %s %s? (see %s --help)", name, p.Command, strings.Join(near, " or "), p.Name)
	}
	return command.UsageErrorf("there is no command %q (see %s --help)", name, p.Name)
}

// failedCommand returns the command that an error in parsing is about.
func (p *process) failedCommand(err error) string {
	var parsing *kong.ParseError
	if errors.As(err, &parsing) && parsing.Context != nil {
		names := ""
		for c := parsing.Context.Selected(); c != nil && c.Type == kong.CommandNode; c = c.Parent {
			names = " " + c.Name + names
		}
		return p.Name + names
	}
	return p.Name
}
