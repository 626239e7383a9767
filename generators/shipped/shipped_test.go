package shipped_test

import (
	"slices"
	"testing"

	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/registry"
)

// Clients rely on the names, and on which runs survive a restart.
func TestPhotons(t *testing.T) {
	want := map[string]bool{ // by name, whether it is durable
		"ask_user_preferences": true, "book_dinner": true, "burst": true, "countdown": false, "disk_usage": true, "explore_csv": true,
		"github_user": true, "kitchen_sink": true, "parallel": true, "summarize": true, "wizard": true,
	}
	var names []string
	for _, p := range shipped.Photons() {
		names = append(names, p.Name())
		if o := p.Options(); o.Title == "" || o.Description == "" || o.ReadOnly && o.Destructive {
			t.Errorf("photon %s: %+v has no title or description, or is both read-only and destructive", p.Name(), o)
		}
		durable, known := want[p.Name()]
		if !known || durable != p.Options().Durable {
			t.Errorf("photon %s: known = %t, durable = %t", p.Name(), known, p.Options().Durable)
		}
	}
	if len(names) != len(want) || !slices.IsSorted(names) {
		t.Errorf("the photons are %v, want %d sorted by name", names, len(want))
	}
	if _, err := registry.NewRegistry(shipped.Photons()...); err != nil {
		t.Error(err)
	}
}
