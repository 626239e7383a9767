package runcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
)

// beamRuns is what the commands for runs need of a Beam, wherever it is.
type beamRuns interface {
	Photons(ctx context.Context) ([]runs.Photon, error)
	Photon(ctx context.Context, name string) (runs.Photon, error)
	Start(ctx context.Context, photon string, args json.RawMessage) (id string, err error)
	Fork(ctx context.Context, id string, until *uint64, args json.RawMessage) (fork string, err error)
	Follow(ctx context.Context, id string, after uint64) iter.Seq2[[]runlog.Entry, error]
	Answer(ctx context.Context, askID string, a runs.Answer) error
	Cancel(ctx context.Context, id string) error
	Runs(ctx context.Context) ([]engine.Info, error)
	Run(ctx context.Context, id string) (engine.Info, error)
	Asks(ctx context.Context) ([]engine.OpenAsk, error)
	Ask(ctx context.Context, id string) (engine.OpenAsk, error)
	Result(ctx context.Context, id string) (json.RawMessage, error)
	Models(ctx context.Context, askID string) (sampling.Description, error)
	Approve(ctx context.Context, askID string, d sampling.Decision) error
}

var (
	_ beamRuns = (*runs.Local)(nil)
	_ beamRuns = (*runs.Remote)(nil)
)

// connectFlags say where the runs are.
type connectFlags struct {
	Server string `placeholder:"URL" help:"Use the Beam at this address, such as https://tools.example/beam."`
	Token  string `placeholder:"SECRET" help:"The token of that Beam. Set it as $$BEAM_TOKEN to keep it out of the list of processes."`

	command.DataFolderFlags
}

// BeforeApply has a folder that the command line names overrule $BEAM_SERVER; kong calls it.
func (c *connectFlags) BeforeApply(parsed *kong.Context) error {
	given := func(name string) bool {
		return slices.ContainsFunc(parsed.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == name })
	}
	if given("data") {
		if given("server") {
			return errors.New("--server and --data exclude each other")
		}
		c.Server = ""
	}
	return nil
}

// Validate checks the flags; kong calls it.
func (c *connectFlags) Validate() error {
	if c.Server == "" {
		return nil
	}
	if u, err := url.Parse(c.Server); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("--server must be the address of a Beam, such as https://tools.example/beam")
	}
	return nil
}

// A connection reaches the runs of a Beam.
type connection struct {
	beamRuns
	// name says which Beam it is, for messages; empty for this process.
	name  string
	local bool // the runs are in this process
	// memory says that nothing outlives this process.
	memory bool
	app    *app.App // in this process; nil elsewhere
	// place are the flags with which another command reaches the same Beam.
	place []string
	close func() error
}

// sayProblems prints which MCP servers are not connected, whose tools are missing.
func (c *connection) sayProblems(p *command.Program) {
	if c.app == nil {
		return
	}
	for _, problem := range c.app.UpstreamProblems() {
		p.Messagef("%s", problem)
	}
}

// Photon returns a photon. The tool of a server that this process connects to may come later: the
// server may have to be downloaded first.
func (c *connection) Photon(ctx context.Context, name string) (runs.Photon, error) {
	photon, err := c.beamRuns.Photon(ctx, name)
	if errors.Is(err, engine.ErrPhotonNotFound) && c.app != nil && c.app.AwaitUpstreamOf(ctx, name) {
		return c.beamRuns.Photon(ctx, name)
	}
	return photon, err
}

// Command returns a command line for the same Beam, for messages.
func (c *connection) command(p *command.Program, words ...string) string {
	line := append([]string{p.Command}, words...)
	for _, word := range c.place {
		line = append(line, command.QuoteWord(word))
	}
	return strings.Join(line, " ")
}

// How a connection works on a data folder that no process owns.
type localWork int

const (
	// readOnly reads and ends runs, and runs no photon.
	readOnly localWork = iota
	// runPhotons runs photons, and serves other processes.
	runPhotons
)

// connect connects to the Beam that the flags name: that of a server, or the owner of the
// data folder, or one in this process if nobody owns the folder. The caller closes the
// connection.
func (c *connectFlags) connect(ctx context.Context, p *command.Program, work localWork, local *command.LocalFlags) (*connection, error) {
	conn, err := c.dial(ctx, p, work, local)
	if err == nil && c.Server != "" {
		conn.place = []string{"--server", c.Server}
	} else if err == nil && c.Data != "" {
		conn.place = []string{"--data", c.Data}
	}
	return conn, err
}

func (c *connectFlags) dial(ctx context.Context, p *command.Program, work localWork, local *command.LocalFlags) (*connection, error) {
	if c.Server != "" {
		base := strings.TrimRight(c.Server, "/")
		return &connection{beamRuns: &runs.Remote{Base: base, Token: c.Token, Client: &http.Client{}}, name: base, close: noClose}, nil
	}
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return nil, err
	}
	if work == readOnly {
		if err := datafolder.Require(dir); err != nil {
			return nil, fmt.Errorf("%w: start a Beam with %s serve, or name its folder with --data", err, p.Command)
		}
	}
	for start := time.Now(); ; {
		folder, err := datafolder.Open(dir)
		if err == nil {
			return openLocal(ctx, p, folder, work, local)
		}
		if !errors.Is(err, datafolder.ErrInUse) {
			return nil, err
		}
		conn, owner, err := command.DialOwner(ctx, dir, app.RequestHTTP, nil)
		if err == nil {
			return joinedConnection(dir, conn, owner), nil
		}
		if !command.IsOwnerEnding(err) || time.Since(start) > command.JoinRefusedTimeout {
			return nil, command.OwnerError(owner, dir, err)
		}
		if err := command.SleepContext(ctx, command.JoinPollInterval); err != nil {
			return nil, err
		}
	}
}

func noClose() error { return nil }

// openLocal starts a Beam in this process. It closes the folder if that fails.
func openLocal(ctx context.Context, p *command.Program, folder *datafolder.Folder, work localWork, local *command.LocalFlags) (*connection, error) {
	config := local.AppFlags().Config(p, folder, command.NewErrorLogger(p))
	start := command.NewApp
	if work == readOnly {
		config.Photons, _ = registry.NewRegistry() // no photon's run is resumed
		config.ReadsOnly = true
		start = app.NewEngine
	}
	a, err := start(ctx, config)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	pages := app.NewPageServer(a)
	if work == runPhotons {
		a.ServeControlSocket(ctx, p.Name+runSuffix, local.Root, pages)
	}
	return &connection{beamRuns: a.Runs(), local: true, app: a, close: func() error {
		a.Stop()
		pages.Close()
		return folder.Close()
	}}, nil
}

// runSuffix names the command that owns a data folder while it runs a photon.
const runSuffix = " run"

// openMemory starts an engine in this process that stores nothing.
func openMemory(ctx context.Context, p *command.Program, local *command.LocalFlags) (*connection, error) {
	folder, err := datafolder.OpenTemporary()
	if err != nil {
		return nil, err
	}
	start := app.NewEngine
	if len(local.MCPConfig) > 0 {
		start = app.New
	}
	a, err := start(ctx, local.AppFlags().Config(p, folder, command.NewErrorLogger(p)))
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return &connection{beamRuns: a.Runs(), local: true, memory: true, app: a, close: func() error {
		a.Stop()
		return folder.Close()
	}}, nil
}

// joinedConnection returns a connection to the owner of a data folder, which speaks HTTP on
// its control socket. The first connection exists already.
func joinedConnection(dir string, first *controlsocket.Conn, owner controlsocket.Owner) *connection {
	ready := make(chan *controlsocket.Conn, 1)
	ready <- first
	transport := &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case conn := <-ready:
			return conn, nil
		default:
		}
		conn, _, err := command.DialOwner(ctx, dir, app.RequestHTTP, nil)
		return conn, err
	}}
	return &connection{
		beamRuns: &runs.Remote{Base: "http://" + links.LoopbackHost, Client: &http.Client{Transport: transport}, Name: command.DescribeOwner(owner)},
		name:     command.DescribeOwner(owner),
		close: func() error {
			transport.CloseIdleConnections()
			select {
			case conn := <-ready:
				return conn.Close()
			default:
				return nil
			}
		},
	}
}
