package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/web"
)

// A stdioProcess is an MCP client's process, while it looks for the Beam that serves
// it: the one that owns the data folder, or itself when nobody does.
type stdioProcess struct {
	*stdioCommand
	program   *program
	logger    *slog.Logger
	presenter *signInPresenter
	conn      *controlsocket.Conn // to the folder's owner, until the relay has it
	local     *localApp           // the folder that this process owns, if it does
}

// How long a client looks for a Beam to join.
const (
	// joinRefusedTimeout is for an owner that lets nobody join: it may be ending.
	joinRefusedTimeout = 10 * time.Second
	// ownerStartTimeout is for one that is starting, with a long log to read.
	ownerStartTimeout = 50 * time.Second
	// restartGracePeriod is for one that ended, and may be started again: to own the
	// folder then would be in its way.
	restartGracePeriod = time.Second
	joinPollInterval   = 50 * time.Millisecond
)

// joinOrOwn finds who serves the client: a connection to the owner of the folder, or
// nil when this process is the owner now.
func (c *stdioProcess) joinOrOwn(ctx context.Context, again bool) (*controlsocket.Conn, error) {
	began := time.Now()
	for {
		if !again || time.Since(began) > restartGracePeriod {
			store, err := c.openFolder()
			if err == nil {
				return nil, c.startLocal(ctx, store)
			}
			if !errors.Is(err, errFolderInUse) {
				return nil, err
			}
		}
		conn, owner, err := c.joinOwner(ctx)
		var refused *controlsocket.RefusedError
		switch {
		case err == nil:
			c.reportJoined(owner)
			return conn, nil
		case errors.As(err, &refused) && refused.Reason != controlsocket.Busy:
			return nil, c.useFallbackFolder(ctx, owner, refused.Text)
		case refused == nil && !errors.Is(err, controlsocket.ErrNoListener):
			return nil, c.useFallbackFolder(ctx, owner, err.Error())
		case time.Since(began) > joinRefusedTimeout:
			return nil, c.useFallbackFolder(ctx, owner, "it lets nobody join it")
		}
		if err := sleepContext(ctx, joinPollInterval); err != nil {
			return nil, err
		}
	}
}

// joinOwner asks the folder's owner to serve the client.
func (c *stdioProcess) joinOwner(ctx context.Context) (*controlsocket.Conn, controlsocket.Owner, error) {
	dir, err := resolveDataDir(c.Data)
	if err != nil {
		return nil, controlsocket.Owner{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, ownerStartTimeout, errors.New("it does not answer"))
	defer cancel()
	return controlsocket.Dial(ctx, dir, requestStdio, stdioRequest{Photons: photonFingerprints(c.program.registry)})
}

// reportJoined says whom the client joined, and what that means for it.
func (c *stdioProcess) reportJoined(o controlsocket.Owner) {
	c.program.messagef("joined %s, which owns the data folder: runs and questions are one%s", describeOwner(o), describePages(o))
	if c.Root != "" && c.Root != o.Root {
		c.program.messagef("its --root counts, not this one's: tools read %s", cmp.Or(o.Root, "no folder"))
	}
	if c.askFlags != defaultAskFlags || c.Traces != "off" {
		c.program.messagef("its --ask-fallback, --ask-handoff, --keep-alive and --traces count, not this one's")
	}
}

func describePages(o controlsocket.Owner) string {
	if o.Pages == "" {
		return ""
	}
	return ", at " + o.Pages
}

// describeOwner names an owner.
func describeOwner(o controlsocket.Owner) string {
	if o.PID == 0 {
		return "another Beam"
	}
	return fmt.Sprintf("%s (process %d)", o.Command, o.PID)
}

// useFallbackFolder makes this process the owner of a temporary folder: the user's own has
// an owner that can't be joined. Who named a folder wants that one.
func (c *stdioProcess) useFallbackFolder(ctx context.Context, o controlsocket.Owner, why string) error {
	if c.Data != "" {
		return fmt.Errorf("the data folder %s is in use by %s, which can't be joined: %s. End that, or choose another folder with --data, or --memory",
			c.Data, describeOwner(o), why)
	}
	store, err := openFallbackFolder()
	if err != nil {
		return err
	}
	c.program.messagef("%s owns the data folder and can't be joined: %s. "+
		"What this client starts is kept in memory, ends with it, and is not among the other's runs and questions", describeOwner(o), why)
	return c.startLocal(ctx, store)
}

// startLocal makes this process the owner of a folder.
func (c *stdioProcess) startLocal(ctx context.Context, store *dataFolder) error {
	b, err := c.startApp(ctx, c.program, store, c.logger, web.Config{})
	if err != nil {
		return errors.Join(err, store.close())
	}
	c.local = &localApp{app: b, folder: store, pages: &pageServer{app: b}, presenter: c.presenter}
	b.serveControlSocket(ctx, store, c.program.name+stdioSuffix, c.Root, c.local.pages)
	return nil
}

// dialBackend is find for a [mcp.Proxy].
func (c *stdioProcess) dialBackend(ctx context.Context, again bool) (mcp.Backend, error) {
	switch {
	case !again:
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

// lossMessage says what becomes of a tool's call whose Beam has ended. Tools that the
// program has not are the owner's own.
func (c *stdioProcess) lossMessage(tool string) string {
	p, ok := c.program.registry.Lookup(tool)
	switch {
	case !ok:
		return "What it had begun is in the list of runs when Beam runs again."
	case p.Options().Durable:
		return "Its run is kept: when Beam runs again it goes on where it was, and what it asks is open in the inbox. To call the tool again starts another run."
	}
	return "It was interrupted, and nothing was kept of it but its record. To call the tool again starts another run."
}

// handleNotice takes what the joined Beam says beside the messages.
func (c *stdioProcess) handleNotice(line []byte) {
	var i signInLink
	if err := json.Unmarshal(line, &i); err == nil && i.Page != "" {
		c.presenter.show(i.Page)
	}
}

// close ends what the client's process owns.
func (c *stdioProcess) close() error {
	if c.local == nil {
		return nil
	}
	return c.local.close()
}

// localApp is a folder that an MCP client's process owns, and the Beam in it.
type localApp struct {
	*app
	folder    *dataFolder
	pages     *pageServer
	presenter *signInPresenter
}

// serve serves the client itself.
func (o *localApp) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return o.mcp.ServeStdio(ctx, in, out, engine.Caller{web.Operator}, o.pages.baseURLFunc(o.presenter.show))
}

func (o *localApp) close() error {
	o.app.shutdown()
	o.pages.close()
	return o.folder.close()
}

// connect is a connection to the Beam in this process.
func (o *localApp) connect(ctx context.Context) mcp.Backend {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { outW.CloseWithError(o.serve(ctx, inR, outW)) }()
	return &localConn{PipeReader: outR, in: inW}
}

type localConn struct {
	*io.PipeReader
	in *io.PipeWriter
}

func (i *localConn) Write(p []byte) (int, error) { return i.in.Write(p) }
func (i *localConn) CloseWrite() error           { return i.in.Close() }
func (i *localConn) Close() error                { return errors.Join(i.in.Close(), i.PipeReader.Close()) }
