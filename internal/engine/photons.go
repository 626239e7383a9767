package engine

import (
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
)

// Photons returns the photons that a caller may see and start, in the order of their
// names.
func (e *Engine) Photons(caller generators.Caller) []*generators.Photon {
	return slices.DeleteFunc(e.photons.All(), func(p *generators.Photon) bool { return !e.allows(p, caller) })
}

// LookupPhoton returns the photon of a name, if there is one that the caller may see
// and start.
func (e *Engine) LookupPhoton(caller generators.Caller, name string) (*generators.Photon, bool) {
	p, ok := e.photons.Lookup(name)
	if !ok || !e.allows(p, caller) {
		return nil, false
	}
	return p, true
}

// allows reports whether a caller may see and start a photon. Nobody may whose
// permission can't be determined because the photon's code panics.
func (e *Engine) allows(p *generators.Photon, caller generators.Caller) (ok bool) {
	if e.offers != nil && !e.offers(p.Name()) {
		return false
	}
	allow := p.Options().Allow
	if allow == nil || e.allowAll {
		return true
	}
	defer func() {
		if v := recover(); v != nil {
			e.logger.Error("a photon's Allow panicked", "photon", p.Name(), "panic", fmt.Sprint(v))
			ok = false
		}
	}()
	return allow(caller) == nil
}
