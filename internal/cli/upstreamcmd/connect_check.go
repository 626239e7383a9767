package upstreamcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// checkServers returns an error for an entry that can't work: its file of servers can't be
// used, or has no server that it names. It warns of servers that can't be started from here:
// the client may have another environment.
func (c *Connect) checkServers(p *command.Program) error {
	var known []string
	if c.MCPConfig != "" {
		if _, err := os.Stat(c.MCPConfig); err != nil { // List takes a missing file for an empty one
			return fmt.Errorf("--mcp-config: %w", err)
		}
		listed, err := config.List(c.MCPConfig)
		if err != nil {
			return fmt.Errorf("--mcp-config: %w", err)
		}
		for _, l := range listed {
			known = append(known, l.Name)
			warnOfServer(p, l)
		}
	}
	if c.Upstream == "" {
		return nil
	}
	if dir, err := datafolder.Resolve(""); err == nil {
		listed, _ := config.List(app.UpstreamFile(dir)) // beam upstream list says what is wrong with it
		for _, l := range listed {
			known = append(known, l.Name)
		}
		for _, s := range command.RequestUpstreams(context.Background(), dir) {
			known = append(known, s.Name)
		}
	}
	slices.Sort(known)
	switch known = slices.Compact(known); {
	case slices.Contains(known, c.Upstream):
		return nil
	case len(known) == 0:
		return fmt.Errorf("there is no upstream %q: name the file that has it with --mcp-config, or add it: %s upstream add", c.Upstream, p.Command)
	}
	return fmt.Errorf("there is no upstream %q, but %s: name the file that has it with --mcp-config", c.Upstream, humanize.List(known, 20))
}

// warnOfServer warns of a server that can't be started as it is here.
func warnOfServer(p *command.Program, l config.Listed) {
	if l.Disabled {
		return
	}
	if l.Problem != nil {
		p.Messagef("warning: %v", l.Problem)
		return
	}
	if l.Command == "" || filepath.IsAbs(l.Command) {
		return
	}
	if _, err := exec.LookPath(l.Command); errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		p.Messagef("warning: the server %q is started by %q, which isn't on your PATH: install it, or give its whole path", l.Name, l.Command)
	}
}
