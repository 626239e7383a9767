// Package catalogue keeps what other MCP servers, the upstreams, offer: their tools, as
// photons, and their resources and prompts.
package catalogue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/registry"
)

// A Source is an upstream as a [Catalogue] knows it. It must not change.
type Source struct {
	Name string // a valid name, see [config.CheckName]
	Call CallFunc
	// Request sends a request that belongs to no run, and during which the upstream
	// asks nothing. Its errors are those of Call.
	Request func(ctx context.Context, r Request) (json.RawMessage, error)
	// Allow, if it is set, returns an error for a caller who may not use the upstream.
	Allow func(generators.Caller) error
	// Instructions tell a model what the upstream is for.
	Instructions func() string
	// Unkept keeps the results of calls out of the log.
	Unkept bool
	// Describe, if it is set, returns the JSON text that the log has in place of such a
	// result.
	Describe func(result json.RawMessage) json.RawMessage
	// Configure, if it is set, completes the options of a tool's photon.
	Configure func(tool string, o *generators.Options)
}

// A LeftOut is a tool that isn't offered.
type LeftOut struct {
	Name string // the tool's own
	Err  error  // why; it wraps [ErrCollision] if the tool's name is taken
}

// ErrCollision is the error of two tools that would have the same name.
var ErrCollision = errors.New("two tools would have the same name")

// A Catalogue keeps the photons of the upstreams' tools in a registry. Its methods may be
// called from several goroutines.
type Catalogue struct {
	registry *registry.Registry

	// changing is held while the registry is changed. Its watchers read the catalogue, so
	// mu isn't held then.
	changing sync.Mutex

	mu       sync.Mutex
	servers  map[string]*served
	byPhoton map[*generators.Photon]*Tool
	seen     seenResources
	// subscribed are the resources that somebody has subscribed to, by upstream.
	subscribed map[string]map[string]struct{}
	watchers   map[*func(method, server, uri string)]struct{}
}

// served is what an upstream offers.
type served struct {
	*Source
	tools   map[string]*Tool // by the names of their photons
	lists   map[List][]item
	request map[string]*generators.Photon // that make requests other than tools/call, by method
}

// New returns an empty catalogue.
func New(registry *registry.Registry) *Catalogue {
	return &Catalogue{
		registry: registry, servers: make(map[string]*served), byPhoton: make(map[*generators.Photon]*Tool),
		subscribed: make(map[string]map[string]struct{}),
		watchers:   make(map[*func(method, server, uri string)]struct{}),
	}
}

// Put adds an upstream that offers nothing yet, in place of one with its name.
func (c *Catalogue) Put(s *Source) {
	c.Remove(s.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[s.Name] = newServed(s)
}

func newServed(s *Source) *served {
	return &served{Source: s, lists: make(map[List][]item), request: map[string]*generators.Photon{
		methodRead: newRequestPhoton(s, methodRead), methodGetPrompt: newRequestPhoton(s, methodGetPrompt),
	}}
}

// Remove removes an upstream and what it offers. Runs that call its tools go on.
func (c *Catalogue) Remove(server string) {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.mu.Lock()
	var removed []string
	if s := c.servers[server]; s != nil {
		removed = c.replace(s, nil)
		delete(c.servers, server)
	}
	c.mu.Unlock()
	_ = c.updateRegistry(removed, nil) // removing can't fail
}

// SetTools makes the tools of an upstream, which Put has added, those in a list, as
// tools/list returned them. Tools that are offered already and have not changed stay as
// they are. It returns the tools that it left out.
func (c *Catalogue) SetTools(server string, list []json.RawMessage) []LeftOut {
	c.changing.Lock()
	defer c.changing.Unlock()
	removed, added, left := c.setTools(server, list)
	if err := c.updateRegistry(removed, added); err != nil {
		left = append(left, LeftOut{"", err})
	}
	return left
}

// setTools is SetTools without the registry: it returns what the registry must remove and
// add.
func (c *Catalogue) setTools(server string, list []json.RawMessage) (removed []string, added []*generators.Photon, left []LeftOut) {
	c.mu.Lock()
	s := c.servers[server]
	c.mu.Unlock()
	if s == nil {
		return nil, nil, nil
	}
	var made []*Tool
	for _, raw := range list { // without mu, for which every call waits: some schemas take long
		t, err := newTool(c, s.Source, raw)
		if err != nil {
			left = append(left, LeftOut{t.Name, err})
			continue
		}
		made = append(made, t)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	tools := make(map[string]*Tool, len(made))
	for _, t := range made {
		if err := c.checkName(t, tools); err != nil {
			left = append(left, LeftOut{t.Name, err})
			continue
		}
		name := t.Photon.Name()
		if same := s.tools[name]; same != nil && bytes.Equal(same.Photon.Options().Definition, t.Photon.Options().Definition) {
			tools[name] = same
			continue
		}
		tools[name] = t
		added = append(added, t.Photon)
	}
	return c.replace(s, tools), added, left
}

// replace replaces an upstream's tools, and returns the names of the photons that are none
// any more. Callers hold mu.
func (c *Catalogue) replace(s *served, tools map[string]*Tool) (removed []string) {
	for name, old := range s.tools {
		if t := tools[name]; t != old {
			removed = append(removed, name)
			delete(c.byPhoton, old.Photon)
		}
	}
	for _, t := range tools {
		c.byPhoton[t.Photon] = t
	}
	s.tools = tools
	return removed
}

// updateRegistry changes the registry, unless nothing changes. Callers hold changing, and
// not mu.
func (c *Catalogue) updateRegistry(removed []string, added []*generators.Photon) error {
	if len(removed) == 0 && len(added) == 0 {
		return nil
	}
	return c.registry.Update(removed, added...)
}

// checkName returns an error if a tool's name is taken: by another tool of its upstream,
// among tools, or by a photon. Callers hold mu.
func (c *Catalogue) checkName(t *Tool, tools map[string]*Tool) error {
	name := t.Photon.Name()
	if other := tools[name]; other != nil {
		if other.Name == t.Name {
			return fmt.Errorf("%s has two tools named %q", t.Server, t.Name)
		}
		return fmt.Errorf("%w: %s's %q and %q would both be %s", ErrCollision, t.Server, other.Name, t.Name, name)
	}
	if p, taken := c.registry.Lookup(name); taken {
		other := c.byPhoton[p]
		switch {
		case other == nil:
			return fmt.Errorf("%w: %s's %q and Beam's own tool %s", ErrCollision, t.Server, t.Name, name)
		case other.Server != t.Server:
			return fmt.Errorf("%w: %s's %q and %s's %q would both be %s", ErrCollision, t.Server, t.Name, other.Server, other.Name, name)
		}
	}
	return nil
}

// ToolOf returns the upstream's tool that a photon calls. It reports false for a photon
// that calls none.
func (c *Catalogue) ToolOf(p *generators.Photon) (*Tool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.byPhoton[p]
	return t, ok
}

// Tools returns the tools of an upstream, in the order of their names.
func (c *Catalogue) Tools(server string) []*Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Tool
	if s := c.servers[server]; s != nil {
		all = slices.Collect(maps.Values(s.tools))
	}
	slices.SortFunc(all, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
