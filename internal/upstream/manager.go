package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/stdio"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// Options are the options of a [Manager].
type Options struct {
	Servers []config.Server
	// Photons is where the tools of the upstreams are registered.
	Photons *registry.Registry
	Policy  policy.Options
	// OwnFile is the file from which Beam can remove servers; empty if there is none.
	OwnFile string
	// SamplingAvailable reports whether requests to a model can be answered: by a model,
	// or by a person in its place. Only then is sampling declared.
	SamplingAvailable bool
	// RootsAvailable reports whether requests for roots can be answered.
	RootsAvailable bool
	// IsOwnAddress reports whether an address is one of this program's pages, to which no
	// upstream sends people. Nil means that it has none.
	IsOwnAddress func(*url.URL) bool
	// Name and Version are what upstreams are told of this program.
	Name, Version string
	Logger        *slog.Logger
}

// A Manager connects to upstreams, and registers their tools as photons while they are
// offered. One upstream never affects another. Its methods may be called from several
// goroutines.
type Manager struct {
	options     Options
	catalogue   *catalogue.Catalogue
	ctx         context.Context
	cancel      context.CancelCauseFunc
	configuring sync.Mutex // held by Configure

	mu        sync.Mutex
	upstreams []*Upstream // in the order of their names
	isClosed  bool
	running   sync.WaitGroup
}

// NewManager returns a manager that isn't connected yet. The error says what of the
// options is not valid.
func NewManager(o Options) (*Manager, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Policy.Logger == nil {
		o.Policy.Logger = o.Logger
	}
	m := &Manager{options: o, catalogue: catalogue.New(o.Photons)}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	var problems []error
	var upstreams []*Upstream
	for _, server := range o.Servers {
		u, err := newUpstream(m, server)
		problems = append(problems, err)
		upstreams = append(upstreams, u)
	}
	m.setUpstreams(upstreams)
	return m, errors.Join(problems...)
}

// Start connects to all upstreams in the background. It waits until each has been
// connected to, or couldn't be, or ctx ends: a client that lists the tools only once
// should find all of them. It returns an error if two tools have the same name. A tool
// that gets such a name later is left out.
func (m *Manager) Start(ctx context.Context) error {
	upstreams := m.Upstreams()
	for _, u := range upstreams {
		u.start()
	}
	if m.options.Policy.Shared {
		m.spawn(m.followAccepted)
	}
	var collisions []error
	for _, u := range upstreams {
		if awaitTried(ctx, u) {
			collisions = append(collisions, u.offers.collisions())
		}
	}
	if err := errors.Join(collisions...); err != nil {
		return fmt.Errorf("%w\nRename a server, or leave one of the tools out with its deny list", err)
	}
	return nil
}

// AwaitUpstreamOf waits until the first attempt to connect to the upstream that has a tool ended, or
// ctx. It reports whether there is such an upstream, and ctx has not ended.
func (m *Manager) AwaitUpstreamOf(ctx context.Context, tool string) bool {
	name, _ := catalogue.SplitName(tool)
	u, ok := m.Lookup(name)
	return ok && awaitTried(ctx, u)
}

// awaitTried waits until the first attempt to connect has ended. It reports false if ctx ends
// before.
func awaitTried(ctx context.Context, u *Upstream) bool {
	select {
	case <-u.tried:
		return true
	case <-ctx.Done():
		return false
	}
}

// Catalogue returns what the upstreams offer. It is nil if there are none, and none can
// be added.
func (m *Manager) Catalogue() *catalogue.Catalogue {
	if m == nil || len(m.Upstreams()) == 0 && m.options.OwnFile == "" {
		return nil
	}
	return m.catalogue
}

// closeTimeout is how long Close waits. An upstream takes less than a second to end, unless
// its tools take long to review on a busy machine, or the log isn't read.
const closeTimeout = 5 * time.Second

// Close disconnects from all upstreams: calls in progress fail, and child processes have
// ended when it returns, unless that takes longer than closeTimeout.
func (m *Manager) Close() {
	if m == nil {
		return
	}
	m.cancel(errManagerClosed)
	m.mu.Lock()
	m.isClosed = true
	m.mu.Unlock()
	if !stdio.WaitAtMost(closeTimeout, m.running.Wait) {
		go m.options.Logger.Warn("upstreams are still being closed") // not here: the log may be what is waited for
	}
}

// spawn runs f in a goroutine that Close waits for. It reports false if the manager is
// closed.
func (m *Manager) spawn(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isClosed {
		return false
	}
	m.running.Go(f)
	return true
}

// Upstreams returns all upstreams, in the order of their names.
func (m *Manager) Upstreams() []*Upstream {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.upstreams)
}

// Lookup returns the upstream with a name. It reports false if there is none.
func (m *Manager) Lookup(name string) (*Upstream, bool) {
	for _, u := range m.Upstreams() {
		if u.server.Name == name {
			return u, true
		}
	}
	return nil, false
}

// clientInfo is what upstreams are told of this program (MCP, Implementation).
func (m *Manager) clientInfo() json.RawMessage {
	raw, err := json.Marshal(map[string]string{"name": m.options.Name, "version": m.options.Version})
	if err != nil {
		panic(err) // texts always have a JSON form
	}
	return raw
}

// StartTimeout is how long programs wait for upstreams when they start.
const StartTimeout = 5 * time.Second
