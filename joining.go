package beam

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/photon-beam/beam/internal/joint"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web"
)

// A client is an MCP client's process, while it looks for the Beam that serves
// it: the one that owns the data folder, or itself when nobody does.
type client struct {
	*stdio
	program *program
	logger  *slog.Logger
	inviter *inviter
	conn    *joint.Conn // to the folder's owner, until the relay has it
	own     *owned      // the folder that this process owns, if it does
}

// How long a client looks for a Beam to join.
const (
	// unjoinable is for an owner that lets nobody join: it may be ending.
	unjoinable = 10 * time.Second
	// unready is for one that is starting, with a long log to read.
	unready = 50 * time.Second
	// settling is for one that ended, and may be started again: to own the
	// folder then would be in its way.
	settling = time.Second
	lookEach = 50 * time.Millisecond
)

// find finds who serves the client: a connection to the owner of the folder, or
// nil when this process is the owner now.
func (c *client) find(ctx context.Context, again bool) (*joint.Conn, error) {
	began := time.Now()
	for {
		if !again || time.Since(began) > settling {
			store, err := c.open()
			if err == nil {
				return nil, c.take(ctx, store)
			}
			if !errors.Is(err, errInUse) {
				return nil, err
			}
		}
		conn, owner, err := c.join(ctx)
		var refused *joint.RefusedError
		switch {
		case err == nil:
			c.joined(owner)
			return conn, nil
		case errors.As(err, &refused) && refused.Reason != joint.Busy:
			return nil, c.beside(ctx, owner, refused.Text)
		case refused == nil && !errors.Is(err, joint.ErrNobody):
			return nil, c.beside(ctx, owner, err.Error())
		case time.Since(began) > unjoinable:
			return nil, c.beside(ctx, owner, "it lets nobody join it")
		}
		if err := sleep(ctx, lookEach); err != nil {
			return nil, err
		}
	}
}

// join asks the folder's owner to serve the client.
func (c *client) join(ctx context.Context) (*joint.Conn, joint.Owner, error) {
	dir, err := dataDir(c.Data)
	if err != nil {
		return nil, joint.Owner{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, unready, errors.New("it does not answer"))
	defer cancel()
	return joint.Dial(ctx, dir, wantStdio, joining{Photons: fingerprints(c.program.registry)})
}

// joined says whom the client joined, and what that means for it.
func (c *client) joined(o joint.Owner) {
	c.program.say("joined %s, which owns the data folder: runs and questions are one%s", described(o), where(o))
	if c.Root != "" && c.Root != o.Root {
		c.program.say("its --root counts, not this one's: tools read %s", cmp.Or(o.Root, "no folder"))
	}
	if c.asking != defaultAsking || c.Traces != "off" {
		c.program.say("its --ask-fallback, --ask-handoff, --keep-alive and --traces count, not this one's")
	}
}

func where(o joint.Owner) string {
	if o.Pages == "" {
		return ""
	}
	return ", at " + o.Pages
}

// described names an owner.
func described(o joint.Owner) string {
	if o.PID == 0 {
		return "another Beam"
	}
	return fmt.Sprintf("%s (process %d)", o.Command, o.PID)
}

// beside makes this process the owner of a temporary folder: the user's own has
// an owner that can't be joined. Who named a folder wants that one.
func (c *client) beside(ctx context.Context, o joint.Owner, why string) error {
	if c.Data != "" {
		return fmt.Errorf("the data folder %s is in use by %s, which can't be joined: %s. End that, or choose another folder with --data, or --memory",
			c.Data, described(o), why)
	}
	store, err := besideFolder()
	if err != nil {
		return err
	}
	c.program.say("%s owns the data folder and can't be joined: %s. "+
		"What this client starts is kept in memory, ends with it, and is not among the other's runs and questions", described(o), why)
	return c.take(ctx, store)
}

// take makes this process the owner of a folder.
func (c *client) take(ctx context.Context, store *folder) error {
	b, err := c.start(ctx, c.program, store, c.logger, web.Config{})
	if err != nil {
		return errors.Join(err, store.close())
	}
	c.own = &owned{running: b, store: store, pages: &pages{running: b}, inviter: c.inviter}
	b.receive(ctx, store, c.program.name+commandStdio, c.Root, c.own.pages)
	return nil
}

// dial is find for a [mcp.Relay].
func (c *client) dial(ctx context.Context, again bool) (mcp.Backend, error) {
	switch {
	case !again:
		return c.conn, nil
	case c.own != nil:
		return c.own.inside(ctx), nil
	}
	conn, err := c.find(ctx, true)
	if err != nil {
		return nil, err
	}
	if conn != nil {
		return conn, nil
	}
	return c.own.inside(ctx), nil
}

// lost says what becomes of a tool's call whose Beam has ended. Tools that the
// program has not are the owner's own.
func (c *client) lost(tool string) string {
	p, ok := c.program.registry.Lookup(tool)
	switch {
	case !ok:
		return "What it had begun is in the list of runs when Beam runs again."
	case p.Options().Durable:
		return "Its run is kept: when Beam runs again it goes on where it was, and what it asks is open in the inbox. To call the tool again starts another run."
	}
	return "It was interrupted, and nothing was kept of it but its record. To call the tool again starts another run."
}

// aside takes what the joined Beam says beside the messages.
func (c *client) aside(line []byte) {
	var i invitation
	if err := json.Unmarshal(line, &i); err == nil && i.Page != "" {
		c.inviter.invite(i.Page)
	}
}

// close ends what the client's process owns.
func (c *client) close() error {
	if c.own == nil {
		return nil
	}
	return c.own.close()
}

// owned is a folder that an MCP client's process owns, and the Beam in it.
type owned struct {
	*running
	store   *folder
	pages   *pages
	inviter *inviter
}

// serve serves the client itself.
func (o *owned) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return o.mcp.ServeStdio(ctx, in, out, run.Caller{web.Operator}, o.pages.inviting(o.inviter.invite))
}

func (o *owned) close() error {
	o.running.end()
	o.pages.close()
	return o.store.close()
}

// inside is a connection to the Beam in this process.
func (o *owned) inside(ctx context.Context) mcp.Backend {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { outW.CloseWithError(o.serve(ctx, inR, outW)) }()
	return &inside{PipeReader: outR, in: inW}
}

type inside struct {
	*io.PipeReader
	in *io.PipeWriter
}

func (i *inside) Write(p []byte) (int, error) { return i.in.Write(p) }
func (i *inside) CloseWrite() error           { return i.in.Close() }
func (i *inside) Close() error                { return errors.Join(i.in.Close(), i.PipeReader.Close()) }
