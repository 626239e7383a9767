package metrics

import (
	"slices"
	"strings"
	"sync"

	"github.com/photon-beam/beam/internal/log"
)

// maxPhotons is how many photons have a label of their own, the first that were
// run; all others are "other". A program has some dozens, but the servers whose
// tools it offers may bring any number.
const maxPhotons = 200

// names bounds what a label may be.
type names struct {
	mu    sync.RWMutex
	known map[string]struct{}
}

// bounded is the label for a name.
func (n *names) bounded(name string) string {
	n.mu.RLock()
	_, known := n.known[name]
	n.mu.RUnlock()
	if known || n.take(name) {
		return name
	}
	return other
}

func (n *names) take(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.known = make(map[string]struct{})
	}
	if _, known := n.known[name]; !known && len(n.known) == maxPhotons {
		return false
	}
	n.known[name] = struct{}{}
	return true
}

// surfaces are the labels for surfaces.
var surfaces = []string{"browser", "http", "mcp", "terminal", other}

// surfaceLabel is the label for a surface.
func surfaceLabel(surface string) string {
	surface, _, _ = strings.Cut(surface, " ") // a task over MCP is a run over MCP
	if slices.Contains(surfaces, surface) {
		return surface
	}
	return other
}

// reasonLabel is the label for a reason: its words, joined.
func reasonLabel(r log.Reason) string { return strings.ReplaceAll(string(r), " ", "_") }
