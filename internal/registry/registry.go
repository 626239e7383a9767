// Package registry has the photons of a Beam by name.
package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// A Registry is a set of photons by name. It may be used from several
// goroutines.
type Registry struct {
	mu       sync.RWMutex
	byName   map[string]*generators.Photon
	sorted   []*generators.Photon // by name
	watchers map[*func()]struct{}
}

// NewRegistry returns a registry of the given photons, or the first error of
// [Registry.Add].
func NewRegistry(photons ...*generators.Photon) (*Registry, error) {
	r := &Registry{byName: make(map[string]*generators.Photon), watchers: make(map[*func()]struct{})}
	if err := r.Update(nil, photons...); err != nil {
		return nil, err
	}
	return r, nil
}

// Add registers a photon. It returns an error if the photon's name is invalid or
// already registered, or if its input, output or one of its forms has no schema.
func (r *Registry) Add(p *generators.Photon) error { return r.Update(nil, p) }

// Remove removes the photon of that name. Its runs continue.
func (r *Registry) Remove(name string) {
	if _, found := r.Lookup(name); found {
		_ = r.Update([]string{name}) // removing can't fail
	}
}

// Update removes the photons of the given names, which may be missing, and adds others,
// as one change. If it can't add all of them, as [Registry.Add] says, it changes nothing.
func (r *Registry) Update(remove []string, add ...*generators.Photon) error {
	if err := r.update(remove, add); err != nil {
		return err
	}
	r.notifyWatchers()
	return nil
}

func (r *Registry) update(remove []string, add []*generators.Photon) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	byName := maps.Clone(r.byName)
	for _, name := range remove {
		delete(byName, name)
	}
	for _, p := range add {
		if p == nil {
			return errors.New("a nil photon can't be registered")
		}
		if err := driver.PhotonError(p); err != nil {
			return err
		}
		if byName[p.Name()] != nil {
			return fmt.Errorf("photon %q: another photon has the same name", p.Name())
		}
		byName[p.Name()] = p
	}
	r.byName = byName
	r.sorted = slices.SortedFunc(maps.Values(byName), func(a, b *generators.Photon) int { return strings.Compare(a.Name(), b.Name()) })
	return nil
}

// Watch calls f after every change, on the goroutine that made the change, until the
// caller calls stop.
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

// Lookup returns the photon of that name. It reports false if there is none.
func (r *Registry) Lookup(name string) (*generators.Photon, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	p, ok := r.byName[name]
	return p, ok
}

// All returns the photons in the order of their names.
func (r *Registry) All() []*generators.Photon {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.sorted)
}
