package docs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runstate"
)

// checkStates checks that a picture of a run's states is that of the table by which every entry
// is checked.
func checkStates(t *testing.T, b block) {
	if want := drawStates(); b.text != want {
		t.Errorf("%s has another picture than\n%s", b.file, want)
	}
}

// drawStates returns the states and what changes them as a Mermaid diagram. What can follow
// each state that is not an end is drawn once.
func drawStates() string {
	var open []runstate.State
	for _, s := range runstate.States {
		if !s.Ended() {
			open = append(open, s)
		}
	}
	kinds := make(map[string][]string) // by arrow
	var arrows []string
	add := func(from, to, kind string) {
		arrow := from + " --> " + to
		if kinds[arrow] == nil {
			arrows = append(arrows, arrow)
		}
		kinds[arrow] = append(kinds[arrow], kind)
	}
	for _, t := range runstate.Transitions {
		for _, to := range t.To {
			switch {
			case slices.Equal(t.From, open):
				add("open", string(to), string(t.Kind))
			case slices.Equal(t.From, []runstate.State{""}):
				add("[*]", string(to), string(t.Kind))
			default:
				for _, from := range t.From {
					add(string(from), string(to), string(t.Kind))
				}
			}
		}
	}
	var inside, outside strings.Builder
	for _, arrow := range arrows {
		b := &inside
		if strings.HasPrefix(arrow, "open ") {
			b = &outside
		} else {
			b.WriteString("    ")
		}
		fmt.Fprintf(b, "    %s: %s\n", arrow, strings.Join(kinds[arrow], ", "))
	}
	return "stateDiagram-v2\n    state \"not ended\" as open {\n" + inside.String() + "    }\n" + outside.String()
}
