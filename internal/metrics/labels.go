package metrics

import (
	"slices"
	"strings"
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
)

// maxPhotons is how many photons have a label of their own, the first that were
// run; all others are "other". A program has some dozens, but the servers whose
// tools it offers may bring any number.
const maxPhotons = 200

// labelNames bounds what a label may be.
type labelNames struct {
	mu    sync.RWMutex
	known map[string]struct{}
}

// label is the label for a name.
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

// surfaces are the labels for surfaces.
var surfaces = []string{"browser", "http", "mcp", "terminal", labelOther}

// surfaceLabel is the label for a surface.
func surfaceLabel(surface string) string {
	surface, _, _ = strings.Cut(surface, " ") // a task over MCP is a run over MCP
	if slices.Contains(surfaces, surface) {
		return surface
	}
	return labelOther
}

// reasonLabel is the label for a reason: its words, joined.
func reasonLabel(r runlog.WithdrawReason) string { return strings.ReplaceAll(string(r), " ", "_") }
