package command

import (
	"path"
	"slices"
	"strings"
)

// photonPatterns selects photons by name. A pattern is one of [path.Match]. Without
// patterns, all are selected.
type photonPatterns []string

// match reports whether a photon is selected.
func (p photonPatterns) match(name string) bool {
	return len(p) == 0 || slices.ContainsFunc(p, func(pattern string) bool { return matchPhoton(pattern, name) })
}

func matchPhoton(pattern, name string) bool {
	ok, err := path.Match(strings.TrimSpace(pattern), name)
	return ok && err == nil
}

// CheckFlags returns a [UsageError] for a pattern that is malformed or selects no photon.
// If there are upstreams, it may select one of theirs, which aren't known yet.
func (p photonPatterns) CheckFlags(of *Program, hasUpstreams bool) error {
	var names []string
	for _, photon := range of.Registry.All() {
		names = append(names, photon.Name())
	}
	for _, pattern := range p {
		if _, err := path.Match(pattern, ""); err != nil {
			return UsageErrorf("--photons: %q is not a pattern: write a name, or * for any characters, ? for one, and [a-c] for one of several", pattern)
		}
		if !hasUpstreams && !slices.ContainsFunc(names, func(name string) bool { return matchPhoton(pattern, name) }) {
			return UsageErrorf("--photons: no photon matches %q; there are %s", pattern, strings.Join(names, ", "))
		}
	}
	return nil
}
