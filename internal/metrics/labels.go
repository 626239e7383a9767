package metrics

import (
	"slices"
	"strings"
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// maxPhotons is the number of photons that have a label of their own: the first
// that are run. All later ones share the label "other". A program has some dozens of
// photons, but upstream servers may add any number.
const maxPhotons = 200

// labelNames limits the number of values of a label.
type labelNames struct {
	mu    sync.RWMutex
	known map[string]struct{}
}

// label returns the label for a name: the name itself, or "other".
func (n *labelNames) label(name string) string {
	n.mu.RLock()
	_, known := n.known[name]
	n.mu.RUnlock()
	if known || n.add(name) {
		return name
	}
	return labelOther
}

func (n *labelNames) add(name string) bool {
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

// surfaces lists the labels of surfaces.
var surfaces = []string{"app", "browser", "http", "mcp", "terminal", sampling.Surface, labelOther}

// surfaceLabel returns the label for a surface.
func surfaceLabel(surface string) string {
	surface, _, _ = strings.Cut(surface, " ") // "mcp task" counts as "mcp", and "app" precedes the name of a client
	if slices.Contains(surfaces, surface) {
		return surface
	}
	return labelOther
}

// reasonLabel returns the label for a reason.
func reasonLabel(r runlog.WithdrawReason) string { return strings.ReplaceAll(string(r), " ", "_") }
