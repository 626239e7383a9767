package servecmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/mcp/proxy"
)

// A stdioProcess is the process that an MCP client starts. It finds the Beam that
// serves the client: the owner of the data folder, or itself if there is none.
type stdioProcess struct {
	*Stdio
	program   *command.Program
	logger    *slog.Logger
	presenter *signInPresenter
	conn      *controlsocket.Conn // to the folder's owner, until the proxy dials
	local     *localApp           // nil unless this process owns a folder
}

// restartGracePeriod is how long a process looks for a Beam to join if the owner has ended:
// it may be restarted, and couldn't own the folder if this process already did.
const restartGracePeriod = time.Second

// joinOrOwn returns a connection to the owner of the data folder, or nil if this
// process owns a folder now; then c.local is set. reconnecting says that the
// previous owner has ended.
func (c *stdioProcess) joinOrOwn(ctx context.Context, reconnecting bool) (*controlsocket.Conn, error) {
	start := time.Now()
	for {
		if !reconnecting || time.Since(start) > restartGracePeriod {
			folder, err := c.OpenFolder()
			if err == nil {
				return nil, c.startLocal(ctx, folder)
			}
			if !errors.Is(err, datafolder.ErrInUse) {
				return nil, err
			}
		}
		conn, owner, err := c.joinOwner(ctx)
		if err == nil {
			c.reportJoined(ctx, owner)
			return conn, nil
		}
		if reason := refusalReason(err, time.Since(start)); reason != "" {
			return nil, c.useFallbackFolder(ctx, owner, reason)
		}
		if err := command.SleepContext(ctx, command.JoinPollInterval); err != nil {
			return nil, err
		}
	}
}

// joinOwner requests that the folder's owner serve the client.
func (c *stdioProcess) joinOwner(ctx context.Context) (*controlsocket.Conn, controlsocket.Owner, error) {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return nil, controlsocket.Owner{}, err
	}
	return command.DialOwner(ctx, dir, app.RequestStdio, app.NewStdioRequest(c.program.Registry, c.Upstream))
}

// refusalReason returns why the owner can't be joined, or "" if it may be joined
// later. elapsed is how long the process has tried.
func refusalReason(err error, elapsed time.Duration) string {
	if !command.IsOwnerEnding(err) {
		var refused *controlsocket.RefusedError
		if errors.As(err, &refused) {
			return refused.Text
		}
		return err.Error()
	}
	if elapsed > command.JoinRefusedTimeout {
		return "it lets no other process join"
	}
	return ""
}

// useFallbackFolder makes this process the owner of a temporary folder because
// the owner of the user's own can't be joined. It returns an error if the command
// line names a folder: the user wants that one.
func (c *stdioProcess) useFallbackFolder(ctx context.Context, o controlsocket.Owner, reason string) error {
	if c.Data != "" {
		return fmt.Errorf("the data folder %s is in use by %s, which can't be joined: %s. Stop that one, or choose another folder with --data, or --memory",
			c.Data, command.DescribeOwner(o), reason)
	}
	folder, err := datafolder.OpenFallback(ctx)
	if err != nil {
		return err
	}
	c.program.Messagef("%s owns the data folder and can't be joined: %s. "+
		"What this client starts is kept in memory, ends with it, and is not among the other's runs and questions", command.DescribeOwner(o), reason)
	return c.startLocal(ctx, folder)
}

// dialBackend implements Dial for a [proxy.Proxy].
func (c *stdioProcess) dialBackend(ctx context.Context, reconnecting bool) (proxy.Backend, error) {
	switch {
	case !reconnecting:
		return c.conn, nil
	case c.local != nil:
		return c.local.connect(ctx), nil
	}
	conn, err := c.joinOrOwn(ctx, true)
	if err != nil {
		return nil, err
	}
	if conn != nil {
		return conn, nil
	}
	return c.local.connect(ctx), nil
}

// close closes the app and the folder of this process, if it owns one.
func (c *stdioProcess) close() error {
	if c.local == nil {
		return nil
	}
	return c.local.close()
}
