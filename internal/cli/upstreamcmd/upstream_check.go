package upstreamcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// upstreamCheckCommand connects to servers and says what it finds.
type upstreamCheckCommand struct {
	Name string `arg:"" optional:"" help:"The server to check. Without it, all are checked."`

	MCPConfig []string         `name:"mcp-config" type:"path" env:"-" placeholder:"FILE" help:"Check the servers of this file of an MCP client, besides those of the data folder and of the files that its running Beam was started with. Can be repeated."`
	Timeout   command.Duration `env:"-" default:"60s" placeholder:"TIME" help:"How long each server may take (default ${default})."`
	JSON      bool             `name:"json" help:"Print the findings as JSON."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*upstreamCheckCommand) Help() string {
	return "The command connects to each server as ${program} would, lists its tools, and disconnects. It says which version of MCP the server speaks, what it can do, which tools it has, and what is wrong with a hint at what helps. It changes nothing. The exit status is 1 if a server can't be used."
}

// Validate checks the flags; kong calls it.
func (c *upstreamCheckCommand) Validate() error {
	if c.Timeout <= 0 {
		return errors.New("--timeout must be more than 0")
	}
	return nil
}

// Run checks, and prints what it found.
func (c *upstreamCheckCommand) Run(ctx context.Context, p *command.Program) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	files := c.MCPConfig
	for _, s := range command.RequestUpstreams(ctx, dir) {
		if s.File != app.UpstreamFile(dir) && !slices.Contains(files, s.File) {
			files = append(files, s.File)
		}
	}
	servers, problems := config.LoadValid(upstreamFiles(files, dir)...)
	if c.Name != "" {
		found := slices.IndexFunc(servers, func(s config.Server) bool { return s.Name == c.Name })
		if found < 0 {
			return errors.Join(problems, fmt.Errorf("there is no server %q that can be used", c.Name))
		}
		servers, problems = servers[found:found+1], nil
	}
	failed := problems != nil
	var reports []*upstream.Report
	for _, s := range servers {
		r := c.check(ctx, p, s)
		reports = append(reports, r)
		failed = failed || r.Failed()
		if !c.JSON {
			printReport(p, r)
		}
	}
	switch {
	case c.JSON:
		err = json.NewEncoder(p.Stdout).Encode(map[string]any{"upstreams": slices.Concat([]*upstream.Report{}, reports)})
	case len(servers) == 0 && problems == nil:
		fmt.Fprintf(p.Stdout, "There are no servers. To add one: %s upstream add NAME -- COMMAND\n", p.Command)
	}
	if problems != nil {
		return errors.Join(err, problems)
	}
	if failed {
		return errors.Join(err, errors.New("not all servers can be used"))
	}
	return err
}

func (c *upstreamCheckCommand) check(ctx context.Context, p *command.Program, s config.Server) *upstream.Report {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Timeout))
	defer cancel()
	info, err := json.Marshal(map[string]string{"name": p.Name, "version": app.Version()})
	if err != nil {
		panic(err) // texts always have a JSON form
	}
	pins, err := c.requestPins(ctx, s.Name)
	if err != nil {
		p.Messagef("it isn't known which tools of %s were accepted: %v", s.Name, err)
	}
	return upstream.Check(ctx, s, pins, info)
}

// requestPins returns what was accepted of an upstream's tools; nothing if there is no data folder.
func (c *upstreamCheckCommand) requestPins(ctx context.Context, name string) (pins []smallstate.Value, err error) {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil || datafolder.Require(dir) != nil {
		return nil, err
	}
	err = c.UseFolder(ctx, app.RequestUpstream, app.UpstreamRequest{Action: app.UpstreamPins, Name: name},
		func(conn *controlsocket.Conn) error {
			var reply app.UpstreamReply
			if err := json.NewDecoder(conn).Decode(&reply); err != nil {
				return err
			}
			pins = reply.Pins
			return reply.Err()
		},
		func(folder *datafolder.Folder) error {
			pins, err = folder.UpstreamPins(ctx, name)
			return err
		})
	return pins, err
}

// upstreamFiles returns the files that define upstreams: those that were named, and the
// data folder's own, if it has one.
func upstreamFiles(named []string, dir string) []string {
	if _, err := os.Stat(app.UpstreamFile(dir)); errors.Is(err, fs.ErrNotExist) {
		return named
	}
	return append(slices.Clip(named), app.UpstreamFile(dir))
}

// printReport prints what was found out about a server.
func printReport(p *command.Program, r *upstream.Report) {
	mark := "works"
	if r.Failed() {
		mark = "can't be used"
	}
	fmt.Fprintf(p.Stdout, "%s %s (%s)\n", r.Name, mark, humanize.Duration(time.Duration(r.Took)*time.Millisecond))
	if r.Version != "" {
		fmt.Fprintf(p.Stdout, "    MCP %s, %s\n", r.Version, describeOr(r.Server, "which doesn't say its name"))
	}
	if len(r.Capabilities) > 0 {
		fmt.Fprintf(p.Stdout, "    can do: %s\n", strings.Join(r.Capabilities, ", "))
	}
	var offered []string
	for _, t := range r.Tools {
		if t.Decision == policy.Offered {
			offered = append(offered, t.Name)
		}
	}
	if len(offered) > 0 {
		fmt.Fprintf(p.Stdout, "    %s: %s\n", humanize.Count(len(offered), "tool"), humanize.List(offered, 20))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(p.Stdout, "    - %s\n", f.Text)
		if f.Mend != "" {
			fmt.Fprintf(p.Stdout, "      %s\n", f.Mend)
		}
	}
}

func describeOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
