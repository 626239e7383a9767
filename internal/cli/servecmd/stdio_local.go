package servecmd

import (
	"context"
	"errors"
	"io"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/mcp/proxy"
)

// A localApp is the app of an MCP client's process that owns a data folder.
type localApp struct {
	*app.App
	folder    *datafolder.Folder
	only      string // the upstream that is served; empty for all photons
	pages     *app.PageServer
	presenter *signInPresenter
}

// startLocal starts an app in a folder, which it closes if that fails.
func (c *stdioProcess) startLocal(ctx context.Context, folder *datafolder.Folder) error {
	a, err := command.NewApp(ctx, c.Config(c.program, folder, c.logger))
	if err != nil {
		return errors.Join(err, folder.Close())
	}
	c.local = &localApp{App: a, folder: folder, only: c.Upstream, pages: app.NewPageServer(a), presenter: c.presenter}
	a.ServeControlSocket(ctx, c.program.Name+command.StdioSuffix, c.Root, c.local.pages)
	return nil
}

// serve serves the client.
func (l *localApp) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return l.ServeUpstreamStdio(ctx, l.only, in, out, l.pages.BaseURLFunc(l.presenter.show))
}

func (l *localApp) close() error {
	l.Stop()
	l.pages.Close()
	return l.folder.Close()
}

// connect returns a connection to the app for a proxy in this process.
func (l *localApp) connect(ctx context.Context) proxy.Backend {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { outW.CloseWithError(l.serve(ctx, inR, outW)) }()
	return &localConn{PipeReader: outR, in: inW}
}

// A localConn is a connection within the process.
type localConn struct {
	*io.PipeReader
	in *io.PipeWriter
}

func (c *localConn) Write(p []byte) (int, error) { return c.in.Write(p) }
func (c *localConn) CloseWrite() error           { return c.in.Close() }
func (c *localConn) Close() error                { return errors.Join(c.in.Close(), c.PipeReader.Close()) }
