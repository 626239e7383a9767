package generators

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// namePattern is MCP's rule for tool names without the slash, since names stand
// in paths.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

func checkName(name string) error {
	if namePattern.MatchString(name) {
		return nil
	}
	return errors.New("a name is 1 to 128 of the characters A-Z a-z 0-9 _ . - and begins with none of . -")
}

// A Registry is a set of photons by name. It may be used from several
// goroutines.
type Registry struct {
	mu       sync.RWMutex
	byName   map[string]*Photon
	watchers map[*func()]struct{}
}

// NewRegistry returns a registry of the given photons, or the reason why one
// of them is refused.
func NewRegistry(photons ...*Photon) (*Registry, error) {
	r := &Registry{byName: make(map[string]*Photon), watchers: make(map[*func()]struct{})}
	for _, p := range photons {
		if err := r.Add(p); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Add registers a photon. It refuses an illegal name, a name that is taken,
// and a photon whose input, output or forms have no schema.
func (r *Registry) Add(p *Photon) error {
	if p == nil {
		return errors.New("a nil photon can't be registered")
	}
	if p.err != nil {
		return p.err
	}
	r.mu.Lock()
	_, taken := r.byName[p.name]
	if !taken {
		r.byName[p.name] = p
	}
	r.mu.Unlock()
	if taken {
		return fmt.Errorf("photon %q: the name is taken by another photon", p.name)
	}
	r.notifyWatchers()
	return nil
}

// Remove forgets the photon of that name. Its runs go on.
func (r *Registry) Remove(name string) {
	r.mu.Lock()
	_, there := r.byName[name]
	delete(r.byName, name)
	r.mu.Unlock()
	if there {
		r.notifyWatchers()
	}
}

// Watch has f called after every change, from the goroutine that made it, until
// stop is called.
func (r *Registry) Watch(f func()) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[&f] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, &f)
	}
}

func (r *Registry) notifyWatchers() {
	r.mu.RLock()
	watchers := slices.Collect(maps.Keys(r.watchers))
	r.mu.RUnlock()
	for _, f := range watchers {
		(*f)()
	}
}

// Lookup returns the photon of that name.
func (r *Registry) Lookup(name string) (*Photon, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	p, ok := r.byName[name]
	return p, ok
}

// All returns the photons, by name.
func (r *Registry) All() []*Photon {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]*Photon, 0, len(r.byName))
	for _, p := range r.byName {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Photon) int { return strings.Compare(a.name, b.name) })
	return all
}
