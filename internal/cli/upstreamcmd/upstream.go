// Package upstreamcmd has the commands that connect Beam with MCP servers, and with the
// clients that start it.
package upstreamcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// Upstream manages the MCP servers whose tools Beam offers.
type Upstream struct {
	Add    upstreamAddCommand    `cmd:"" help:"Add an MCP server: a command that Beam starts, or the URL of one."`
	List   upstreamListCommand   `cmd:"" help:"List the MCP servers of the data folder, and what they are doing."`
	Check  upstreamCheckCommand  `cmd:"" help:"Connect to MCP servers, and say what they can do and what is wrong."`
	Accept upstreamAcceptCommand `cmd:"" help:"Accept tools that changed and are held back."`
	Remove upstreamRemoveCommand `cmd:"" help:"Remove an MCP server."`
}

// Help returns what --help says besides the commands.
func (*Upstream) Help() string {
	return "The tools of these servers become photons: you run them in the playground, and MCP clients of ${program} call them, as NAME__TOOL. What a server asks on the way, you answer as you do for other photons.\n\n" +
		"These commands edit the file " + config.OwnFile + " in the data folder, which has the format of MCP clients' own files. A running ${program} follows at once. To use a client's file as it is, start ${program} with --mcp-config FILE instead.\n\n" +
		"Examples:\n\n" +
		"    ${program} upstream add files -- npx -y @modelcontextprotocol/server-filesystem ~/projects\n" +
		"    ${program} upstream add tracker --url https://tracker.example/mcp --header 'Authorization: Bearer ${TRACKER_TOKEN}'\n" +
		"    ${program} upstream list\n"
}

// upstreamAddCommand adds a server.
type upstreamAddCommand struct {
	Name    string   `arg:"" help:"What to call the server: A-Z a-z 0-9 - _. Its tools are called NAME__TOOL."`
	Command []string `arg:"" optional:"" passthrough:"" help:"The command that starts it, and its arguments, after --."`

	URL       string   `name:"url" env:"-" placeholder:"URL" help:"The URL of the server, instead of a command."`
	Type      string   `env:"-" default:"" enum:",stdio,http,sse" placeholder:"TYPE" help:"How a server with a URL is spoken to: http, or sse for one of 2024. By default, what works."`
	Header    []string `env:"-" sep:"none" placeholder:"'K: V'" help:"A header of requests to the URL, such as 'Authorization: Bearer $${VAR}'. Can be repeated."`
	Env       []string `env:"-" sep:"none" placeholder:"K=V" help:"A variable of the command's environment. Can be repeated."`
	Cwd       string   `env:"-" type:"path" placeholder:"DIR" help:"The folder in which the command runs. By default, the one in which you add it."`
	Allow     []string `env:"-" placeholder:"PATTERN" help:"Offer only tools whose own names match, as in get_*. Separate several with commas."`
	Deny      []string `env:"-" placeholder:"PATTERN" help:"Don't offer tools whose own names match."`
	Role      []string `env:"-" placeholder:"ROLE" help:"Offer the tools only to callers with one of these roles."`
	Record    string   `env:"-" default:"" enum:",nothing,metadata,all" placeholder:"WHAT" help:"What the log keeps of calls' arguments and results: nothing, metadata (sizes and digests) or all (the default)."`
	Sensitive string   `env:"-" default:"" enum:",refuse,warn,allow" placeholder:"HOW" help:"What to do if the server's form asks for a password, a key or the like: refuse (the default), warn or allow."`
	Parallel  string   `env:"-" default:"" enum:",shared,separate,never" placeholder:"HOW" help:"How calls that are made at once reach a server that has sessions: over one connection (shared, the default), over one each (separate), or one after the other (never)."`
	Replace   bool     `env:"-" help:"Replace a server of this name."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*upstreamAddCommand) Help() string {
	return "Secrets: write ${VAR} for an environment variable of ${program}, ${VAR:-default}, or ${file:PATH} for a file that only you can read (mode 0600), in the command, its arguments and variables, the URL and the headers. " +
		"Quote them, so that the shell leaves them alone. The file then holds the reference, and ${program} resolves it when it starts the server."
}

// Run adds the server.
func (c *upstreamAddCommand) Run(ctx context.Context, p *command.Program) error {
	definition, err := c.definition()
	if err == nil {
		err = config.Check(c.Name, definition)
	}
	if err != nil {
		return &command.UsageError{Err: err}
	}
	warning, err := changeUpstreams(ctx, p, &c.DataFolderFlags, app.UpstreamRequest{Action: app.UpstreamAdd, Name: c.Name, Definition: &definition, Replace: c.Replace})
	if errors.Is(err, config.ErrExists) {
		return fmt.Errorf("there is a server %q already: choose another name, or replace it with --replace", c.Name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "Added %s. To see whether it works: %s upstream check %s\n", c.Name, p.Command, c.Name)
	printUpstreamWarning(p, warning)
	return nil
}

// definition returns the server that the command line describes.
func (c *upstreamAddCommand) definition() (d config.Definition, err error) {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	d = config.Definition{
		Type: c.Type, URL: c.URL, Allow: c.Allow, Deny: c.Deny, Roles: c.Role,
		Record: config.Record(c.Record), Sensitive: config.Sensitive(c.Sensitive), Parallel: config.Parallel(c.Parallel),
	}
	switch {
	case len(command) == 0 && c.URL == "":
		return d, errors.New("say how to reach the server: a command after --, or --url")
	case len(command) > 0 && c.URL != "":
		return d, errors.New("a command and --url exclude each other")
	case len(command) > 0:
		d.Command, d.Args = command[0], command[1:]
		if d.Cwd, err = c.workingFolder(); err != nil {
			return d, err
		}
	case c.Cwd != "" || len(c.Env) > 0:
		return d, errors.New("--cwd and --env are for a command; a server with a URL has --header")
	}
	if d.Env, err = splitPairs("--env", c.Env, "=", "K=V"); err == nil {
		d.Headers, err = splitPairs("--header", c.Header, ":", "'K: V'")
	}
	return d, err
}

// splitPairs splits the values of a flag into names and values.
func splitPairs(flag string, pairs []string, separator, form string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	all := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, found := strings.Cut(pair, separator)
		name, value = strings.TrimSpace(name), strings.TrimLeft(value, " \t")
		if !found || name == "" {
			return nil, fmt.Errorf("%s must be %s", flag, form) // without the value, which may be secret
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("%s names %s twice", flag, name)
		}
		all[name] = value
	}
	return all, nil
}

// upstreamRemoveCommand removes a server.
type upstreamRemoveCommand struct {
	Name string `arg:"" help:"The server's name."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*upstreamRemoveCommand) Help() string {
	return "Its tools are gone at once, and calls that are in progress end. What was accepted of its tools is forgotten. Servers of files that ${program} was started with (--mcp-config) are removed there."
}

// Run removes the server.
func (c *upstreamRemoveCommand) Run(ctx context.Context, p *command.Program) error {
	warning, err := changeUpstreams(ctx, p, &c.DataFolderFlags, app.UpstreamRequest{Action: app.UpstreamRemove, Name: c.Name})
	if errors.Is(err, config.ErrNotFound) {
		return fmt.Errorf("the data folder has no server %q: %s upstream list shows which it has", c.Name, p.Command)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "Removed %s.\n", c.Name)
	printUpstreamWarning(p, warning)
	return nil
}

// printUpstreamWarning prints what keeps a running Beam from using its upstreams.
func printUpstreamWarning(p *command.Program, warning string) {
	if warning != "" {
		p.Messagef("it can't be used yet:\n%s", warning)
	}
}

// changeUpstreams changes the file of the data folder: the Beam that owns it does, if
// there is one. The warning says what can't be used of the file.
func changeUpstreams(ctx context.Context, p *command.Program, f *command.DataFolderFlags, request app.UpstreamRequest) (warning string, err error) {
	var reply app.UpstreamReply
	if err := makeDataDir(f.Data); err != nil {
		return "", err
	}
	err = f.UseFolder(ctx, app.RequestUpstream, request,
		func(conn *controlsocket.Conn) error {
			if err := json.NewDecoder(conn).Decode(&reply); err != nil {
				return err
			}
			return reply.Err()
		},
		func(folder *datafolder.Folder) error {
			if err := app.ChangeUpstreams(ctx, folder, request, command.NewWarningLogger(p)); err != nil {
				return err
			}
			if err := app.UpstreamProblem(folder.Dir, request.Name); err != nil {
				reply.Warning = err.Error()
			}
			return nil
		})
	return reply.Warning, err
}

// makeDataDir makes the data folder if there is none.
func makeDataDir(data string) error {
	dir, err := datafolder.Resolve(data)
	if err != nil || datafolder.Require(dir) == nil {
		return err
	}
	folder, err := datafolder.Open(dir)
	if err != nil {
		return err
	}
	return folder.Close()
}
