package message

import (
	"slices"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// TestEveryKindHasAForm checks that every kind of event and of question has an MCP
// form, and that there is no form for a kind that does not exist.
func TestEveryKindHasAForm(t *testing.T) {
	for _, kind := range driver.Kinds() {
		if eventForms[kind] == nil {
			t.Errorf("the event kind %q has no entry in eventForms", kind)
		}
	}
	for kind := range eventForms {
		if !slices.Contains(driver.Kinds(), kind) {
			t.Errorf("eventForms has an entry for %q, which driver.Kinds does not list", kind)
		}
	}
	for _, kind := range askdata.Kinds() {
		if askForms[kind] == nil {
			t.Errorf("the question kind %q has no entry in askForms", kind)
		}
	}
	for kind := range askForms {
		if !slices.Contains(askdata.Kinds(), kind) {
			t.Errorf("askForms has an entry for %q, which askdata.Kinds does not list", kind)
		}
	}
}
