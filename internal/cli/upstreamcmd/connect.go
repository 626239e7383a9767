package upstreamcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/connect"
)

// Connect writes the configuration of an MCP client.
type Connect struct {
	Client string `arg:"" help:"The client: ${clients}."`

	Print     bool   `env:"-" xor:"action" help:"Print the entry instead of writing it."`
	Undo      bool   `env:"-" xor:"action" help:"Remove the entry that this command added."`
	Project   bool   `env:"-" help:"Write the configuration of the project in this folder instead of the user's own."`
	Name      string `env:"-" placeholder:"NAME" help:"The server's name in the client. By default, the name of the upstream, or of this program."`
	Upstream  string `env:"-" placeholder:"NAME" help:"Serve the client only this upstream, under its own names."`
	MCPConfig string `name:"mcp-config" env:"-" placeholder:"FILE" help:"The file of upstreams that Beam is to use for this client."`
}

// Help returns what --help says besides the flags.
func (*Connect) Help() string {
	return "The client then starts this program itself, at its present path: connect again after you have moved it. " +
		"The configurations of Claude Code and Cursor are written; whatever else they contain, comments included, stays as it is, and --undo removes the entry again. For the other clients, the entry is printed, with the place where it belongs.\n\n    ${program} connect claude-code\n    ${program} connect vscode\n    ${program} connect claude-code --undo"
}

// Run writes or prints the entry.
func (c *Connect) Run(p *command.Program) error {
	client, err := connect.Find(c.Client)
	if err != nil {
		return &command.UsageError{Err: err}
	}
	if c.Project && !client.HasProjects {
		return command.UsageErrorf("%s has no configuration for a project: leave out --project", client.Title)
	}
	entry, err := c.entry(p)
	if err != nil {
		return err
	}
	file, err := c.file(client)
	if c.Undo && err == nil {
		return c.undo(p, client, file, entry)
	}
	if file != "" {
		entry = client.KeepFlags(file, entry)
	}
	if err == nil {
		err = c.checkServers(p)
	}
	switch {
	case err != nil:
		return err
	case c.Print || file == "":
		fmt.Fprintf(p.Stderr, "This is for %s. It belongs in %s:\n", client.Title, c.location(client))
		_, err := p.Stdout.Write(client.Document(entry))
		return err
	}
	changed, err := client.Write(file, entry)
	switch {
	case err != nil:
		return fmt.Errorf("%w\nTo add the entry yourself, see %s connect %s --print", err, p.Command, c.Client)
	case !changed:
		fmt.Fprintf(p.Stdout, "%s is connected already: %s has the server %q.\n", client.Title, file, entry.Name)
		return nil
	}
	fmt.Fprintf(p.Stdout, "%s is connected: %s now has the server %q, which runs\n\n    %s %s\n\nRestart %s to use it. To undo this: %s\n",
		client.Title, file, entry.Name, entry.Command, strings.Join(entry.Args, " "), client.Title, c.undoCommand(p, entry))
	return nil
}

// undo removes the entry.
func (c *Connect) undo(p *command.Program, client connect.Client, file string, entry connect.Entry) error {
	own := ""
	if client.RemoveCommand != "" {
		own = fmt.Sprintf(", or run %s %s", client.RemoveCommand, command.QuoteWord(entry.Name))
	}
	if file == "" {
		return fmt.Errorf("this program doesn't write the configuration of %s: remove the server %q from %s%s", client.Title, entry.Name, c.location(client), own)
	}
	removed, err := client.Remove(file, entry)
	switch {
	case err != nil:
		return err
	case removed:
		fmt.Fprintf(p.Stdout, "%s is disconnected: %s no longer has the server %q. Restart %s.\n", client.Title, file, entry.Name, client.Title)
	default:
		fmt.Fprintf(p.Stdout, "There is nothing to undo: %s has no server %q.\n", file, entry.Name)
		if own != "" {
			fmt.Fprintf(p.Stdout, "If %s still has it: %s %s\n", client.Title, client.RemoveCommand, command.QuoteWord(entry.Name))
		}
	}
	return nil
}

// undoCommand returns the command line that undoes this one.
func (c *Connect) undoCommand(p *command.Program, entry connect.Entry) string {
	words := []string{p.Command, "connect", c.Client, "--undo"}
	if c.Project {
		words = append(words, "--project")
	}
	if entry.Name != p.Name {
		words = append(words, "--name", command.QuoteWord(entry.Name))
	}
	return strings.Join(words, " ")
}

// file returns the file to write, or "" if the client has none that Beam writes.
func (c *Connect) file(client connect.Client) (string, error) {
	if c.Project {
		if client.ProjectFile == "" {
			return "", nil
		}
		return filepath.Abs(client.ProjectFile)
	}
	if client.UserFile == "" {
		return "", nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, client.UserFile), err
}

func (c *Connect) location(client connect.Client) string {
	if c.Project && client.ProjectFile != "" {
		return client.ProjectFile + " in the project's folder"
	}
	return client.Location()
}

// entry returns the entry for this program.
func (c *Connect) entry(p *command.Program) (connect.Entry, error) {
	e, err := connect.ThisProgram(p.Name)
	if err != nil {
		return e, err
	}
	if command.IsFromGoRun(e.Command) {
		return e, errors.New("go run deletes this program when it ends: build it with go build, and connect that")
	}
	if c.MCPConfig != "" {
		file, err := filepath.Abs(c.MCPConfig)
		if err != nil {
			return e, err
		}
		e.Args = append(e.Args, "--mcp-config", file)
	}
	if c.Upstream != "" {
		e.Name = c.Upstream
		e.Args = append(e.Args, "--upstream", c.Upstream)
	}
	if c.Name != "" {
		e.Name = c.Name
	}
	return e, nil
}
