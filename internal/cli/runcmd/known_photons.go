package runcmd

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runs"
)

// knownPhotons are the photons that a command line can name.
type knownPhotons interface {
	Photons(ctx context.Context) ([]runs.Photon, error)
	Photon(ctx context.Context, name string) (runs.Photon, error)
}

var (
	_ knownPhotons = beamRuns(nil)
	_ knownPhotons = ownPhotons{}
)

// ownPhotons are those of this program.
type ownPhotons struct{ registry *registry.Registry }

func (o ownPhotons) Photons(context.Context) ([]runs.Photon, error) {
	var list []runs.Photon
	for _, photon := range o.registry.All() {
		d, err := runs.Describe(photon)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func (o ownPhotons) Photon(_ context.Context, name string) (runs.Photon, error) {
	photon, ok := o.registry.Lookup(name)
	if !ok {
		return runs.Photon{}, engine.ErrPhotonNotFound
	}
	return runs.Describe(photon)
}

// A photonSource says where photons are looked for: where run would run them.
type photonSource struct {
	connectFlags
	memory    bool     // in this process
	mcpConfig []string // files of other MCP servers, if they are in this process
}

// open returns the photons: of the Beam at the server, or of the owner of the data folder,
// or, if there is none, of this program and of the MCP servers of the files, which it
// starts. It changes no data folder. The caller calls done.
func (s *photonSource) open(ctx context.Context, p *command.Program) (_ knownPhotons, done func() error, err error) {
	if s.Server != "" {
		conn, err := s.connect(ctx, p, readOnly, &command.LocalFlags{})
		if err != nil {
			return nil, nil, err
		}
		return conn, conn.close, nil
	}
	files := s.mcpConfig
	if !s.memory {
		conn, own := s.dialOwner(ctx)
		if conn != nil {
			return conn, conn.close, nil
		}
		files = append(files[:len(files):len(files)], own...)
	}
	if len(files) == 0 {
		return ownPhotons{p.Registry}, noClose, nil
	}
	local := &command.LocalFlags{UpstreamFlags: command.UpstreamFlags{MCPConfig: files, ElicitationMaxConcurrent: 1}}
	conn, err := openMemory(ctx, p, local)
	if err != nil {
		return nil, nil, err
	}
	return conn, conn.close, nil
}

// DialOwner connects to the process that owns the data folder. Without one, it returns the
// folder's own file of MCP servers, if it exists.
func (s *photonSource) dialOwner(ctx context.Context) (_ *connection, files []string) {
	dir, err := datafolder.Resolve(s.Data)
	if err != nil {
		return nil, nil
	}
	if conn, owner, err := command.DialOwner(ctx, dir, app.RequestHTTP, nil); err == nil {
		return joinedConnection(dir, conn, owner), nil
	}
	if file := app.UpstreamFile(dir); fileExists(file) {
		files = append(files, file)
	}
	return nil, files
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// list returns all photons.
func (s *photonSource) list(ctx context.Context, p *command.Program) (list []runs.Photon, err error) {
	known, done, err := s.open(ctx, p)
	if err != nil {
		return nil, err
	}
	list, err = known.Photons(ctx)
	if conn, ok := known.(*connection); ok {
		conn.sayProblems(p)
	}
	return list, errors.Join(err, done())
}

// find returns one photon. The error says which one was probably meant.
func (s *photonSource) find(ctx context.Context, p *command.Program, name string) (photon runs.Photon, err error) {
	known, done, err := s.open(ctx, p)
	if err != nil {
		return runs.Photon{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	photon, err = known.Photon(ctx, name)
	if errors.Is(err, engine.ErrPhotonNotFound) {
		err = unknownPhotonError(ctx, p, known, name)
	}
	return photon, err
}

// unknownPhotonError says which photon was probably meant, or else which there are.
func unknownPhotonError(ctx context.Context, p *command.Program, known knownPhotons, name string) error {
	photons, err := known.Photons(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(photons))
	for i, photon := range photons {
		names[i] = photon.Name
	}
	where := ""
	if conn, ok := known.(*connection); ok {
		conn.sayProblems(p)
		if conn.name != "" {
			where = " in " + conn.name
		}
	}
	if near := humanize.Similar(name, names); len(near) > 0 {
		return command.UsageErrorf("there is no photon %q%s; did you mean %s?", name, where, strings.Join(near, " or "))
	}
	return command.UsageErrorf("there is no photon %q%s; there are %s", name, where, humanize.List(names, 10))
}

// completionTimeout is how long a completion waits for the owner of the data folder.
const completionTimeout = 500 * time.Millisecond

// completable returns the photons that completions know: those of the owner of the data
// folder, or else of this program.
func completable(ctx context.Context, p *command.Program) (_ knownPhotons, done func() error) {
	if conn, _ := (&photonSource{}).dialOwner(ctx); conn != nil {
		return conn, conn.close
	}
	return ownPhotons{p.Registry}, noClose
}
