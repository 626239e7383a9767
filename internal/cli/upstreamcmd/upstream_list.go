package upstreamcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// upstreamListCommand lists servers.
type upstreamListCommand struct {
	JSON bool `name:"json" help:"Print the list as JSON. Values of variables and headers are left out."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*upstreamListCommand) Help() string {
	return "If a Beam owns the data folder, the list says what it sees of each server, including those of the files that it was started with. ${program} upstream check connects to servers and says more."
}

// A listedUpstream is an upstream as the list has it.
type listedUpstream struct {
	Name    string           `json:"name"`
	Address string           `json:"address"`
	File    string           `json:"file"`
	State   string           `json:"state"` // one of upstream.State, disabled, unusable or "" if no Beam runs
	Tools   int              `json:"tools"` // that are offered
	Held    int              `json:"held"`  // tools that are held back
	Error   string           `json:"error,omitempty"`
	status  *upstream.Status // nil if no Beam runs
}

// Run prints the list.
func (c *upstreamListCommand) Run(ctx context.Context, p *command.Program) error {
	all, err := c.list(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		if all == nil {
			all = []listedUpstream{}
		}
		return json.NewEncoder(p.Stdout).Encode(map[string]any{"upstreams": all})
	}
	if len(all) == 0 {
		fmt.Fprintf(p.Stdout, "There are no servers. To add one: %s upstream add NAME -- COMMAND\n", p.Command)
	}
	for _, u := range all {
		fmt.Fprintf(p.Stdout, "%-16s  %-24s  %s\n", u.Name, u.describe(), humanize.Truncate(u.Address, 100))
		if u.Error != "" {
			fmt.Fprintf(p.Stdout, "    %s\n", strings.ReplaceAll(u.Error, "\n", "\n    "))
		}
	}
	return nil
}

// list returns the servers of the folder's file, and those that the owner uses
// besides.
func (c *upstreamListCommand) list(ctx context.Context) ([]listedUpstream, error) {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return nil, err
	}
	listed, err := config.List(app.UpstreamFile(dir))
	if err != nil {
		return nil, err
	}
	running := make(map[string]*upstream.Status)
	statuses := command.RequestUpstreams(ctx, dir)
	for i := range statuses {
		running[statuses[i].Name] = &statuses[i]
	}
	var all []listedUpstream
	for _, l := range listed {
		u := newListedUpstream(app.UpstreamFile(dir), l, running[l.Name])
		delete(running, l.Name)
		all = append(all, u)
	}
	for i := range statuses {
		if s := &statuses[i]; running[s.Name] != nil {
			u := listedUpstream{Name: s.Name, Address: s.Address, File: s.File}
			u.setStatus(s)
			all = append(all, u)
		}
	}
	return all, nil
}

func newListedUpstream(file string, l config.Listed, s *upstream.Status) listedUpstream {
	u := listedUpstream{Name: l.Name, File: file, Address: addressOf(l.Definition)}
	switch {
	case l.Disabled:
		u.State = "disabled"
	case s != nil:
		u.setStatus(s)
	case l.Problem != nil:
		u.State, u.Error = "unusable", withoutPlace(l)
	}
	return u
}

// withoutPlace returns the problems of a server without the file and name, which the
// list has.
func withoutPlace(l config.Listed) string {
	problems := []error{l.Problem}
	if joined, ok := l.Problem.(interface{ Unwrap() []error }); ok {
		problems = joined.Unwrap()
	}
	var lines []string
	for _, p := range problems {
		text := p.Error()
		if inner := errors.Unwrap(p); inner != nil {
			text = strings.TrimPrefix(text[strings.Index(text, fmt.Sprintf("server %q: ", l.Name)):], fmt.Sprintf("server %q: ", l.Name))
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

func (u *listedUpstream) setStatus(s *upstream.Status) {
	u.status, u.State, u.Error = s, string(s.State), s.LatestError()
	u.Tools, u.Held = s.Count(policy.Offered), s.Count(policy.Held)
}

// describe says what an upstream is doing.
func (u *listedUpstream) describe() string {
	switch {
	case u.State == "":
		return "no Beam runs"
	case u.status == nil:
		return u.State
	case u.Held > 0:
		return fmt.Sprintf("%s, %s, %d held back", u.State, humanize.Count(u.Tools, "tool"), u.Held)
	}
	return fmt.Sprintf("%s, %s", u.State, humanize.Count(u.Tools, "tool"))
}

// addressOf returns how a server is reached, without what may be secret: the values of
// its variables and headers, and the query of its URL.
func addressOf(d config.Definition) string {
	if d.URL == "" {
		return strings.Join(append([]string{d.Command}, d.Args...), " ")
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return ""
	}
	u.RawQuery, u.User = "", nil
	return u.String()
}

// workingFolder returns the folder in which a command is to run.
func (c *upstreamAddCommand) workingFolder() (string, error) {
	if c.Cwd != "" {
		return c.Cwd, nil
	}
	return os.Getwd()
}
