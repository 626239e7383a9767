package servecmd

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/upstream"
)

// reportJoined tells the user which process serves the client, and which flags
// have no effect because of that.
func (c *stdioProcess) reportJoined(ctx context.Context, o controlsocket.Owner) {
	c.program.Messagef("joined %s, which owns the data folder: all runs and questions are in one place%s", command.DescribeOwner(o), command.DescribePages(o))
	if c.Root != "" && c.Root != o.Root {
		c.program.Messagef("its --root applies, not this process's: tools can read %s", cmp.Or(o.Root, "no folder"))
	}
	if missing := c.missingFiles(ctx); len(missing) > 0 {
		c.program.Messagef("the servers of %s are missing: that Beam was started without it. Start it again with --mcp-config %s, or add the servers to it: %s upstream add", missing[0], strings.Join(missing, " --mcp-config "), c.program.Name)
	}
	if len(c.Photons) > 0 {
		c.program.Messagef("its --photons applies, not this process's")
	}
	if c.AskFlags != command.DefaultAskFlags || c.Traces != "off" {
		c.program.Messagef("its --ask-fallback, --ask-handoff, --keep-alive and --traces apply, not this process's")
	}
}

// missingFiles returns the files of upstreams that this process was started with and the
// folder's owner was not.
func (c *stdioProcess) missingFiles(ctx context.Context) (missing []string) {
	if len(c.MCPConfig) == 0 {
		return nil
	}
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return nil
	}
	used := command.RequestUpstreams(ctx, dir)
	for _, file := range c.MCPConfig {
		if !slices.ContainsFunc(used, func(s upstream.Status) bool { return s.File == file }) {
			missing = append(missing, file)
		}
	}
	return missing
}

// lossMessage explains to a client's model what happens to a tool's call if the
// Beam that serves it has ended. A tool that this program doesn't have is one of the
// owner's.
func (c *stdioProcess) lossMessage(tool string) string {
	p, ok := c.program.Registry.Lookup(tool)
	switch {
	case !ok:
		return "When Beam runs again, the list of runs shows how it ended."
	case p.Options().Durable:
		return "Its run is kept: when Beam runs again, the run continues where it stopped, and its questions are open in the inbox. Calling the tool again starts another run."
	}
	return "It was interrupted, and only its record is kept. Calling the tool again starts another run."
}

// handleNotice handles a line from the owner that is no MCP message.
func (c *stdioProcess) handleNotice(line []byte) {
	var link app.SignInLink
	if err := json.Unmarshal(line, &link); err == nil && link.Address != "" {
		c.presenter.show(link.Address)
	}
}
