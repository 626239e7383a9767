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
	"github.com/photon-beam/beam/internal/humanize"
)

// upstreamAcceptCommand accepts tools that are held back.
type upstreamAcceptCommand struct {
	Name string `arg:"" help:"The server's name."`
	Tool string `arg:"" optional:"" help:"The tool's own name. Without it, all tools of the server that are held back are accepted."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*upstreamAcceptCommand) Help() string {
	return "A tool whose description, schemas or annotations change is held back: nobody can call it until you accept what it is now. The server's page shows what changed. The command works through the running ${program} that owns the data folder."
}

// Run accepts, and prints what was accepted.
func (c *upstreamAcceptCommand) Run(ctx context.Context, p *command.Program) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	conn, owner, err := command.DialOwner(ctx, dir, app.RequestUpstream, app.UpstreamRequest{Action: app.UpstreamAccept, Name: c.Name, Tool: c.Tool})
	switch {
	case errors.Is(err, controlsocket.ErrNoListener):
		return fmt.Errorf("no Beam owns the data folder %s, and what the tools of %s are now isn't known: start one with %s serve", dir, c.Name, p.Command)
	case err != nil:
		return command.OwnerError(owner, dir, err)
	}
	var reply app.UpstreamReply
	if err := command.UseConn(ctx, conn, func(conn *controlsocket.Conn) error { return json.NewDecoder(conn).Decode(&reply) }); err != nil {
		return err
	}
	if err := reply.Err(); err != nil {
		return err
	}
	if len(reply.Accepted) == 0 {
		fmt.Fprintf(p.Stdout, "No tool of %s is held back.\n", c.Name)
		return nil
	}
	fmt.Fprintf(p.Stdout, "Accepted %s: %s\n", humanize.Count(len(reply.Accepted), "tool"), strings.Join(reply.Accepted, ", "))
	return nil
}
