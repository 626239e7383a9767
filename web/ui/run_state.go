package ui

import (
	"fmt"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/timeline"
)

func runTitle(r *timeline.Run) string {
	return titleOrName(r.Title, r.Photon) + " · run " + r.ShortID()
}

// announceState describes a run's state for screen readers.
func announceState(r *timeline.Run) string {
	if n := len(r.Open); n > 0 {
		return fmt.Sprintf("%s: %s", formatCount(n, "question waits", "questions wait"), questionText(r.Open[n-1].OpenAsk))
	}
	switch r.State {
	case engine.Running:
		return "The run is in progress."
	case engine.Failed:
		return "The run failed: " + r.Error
	}
	return "The run is " + string(r.State) + "."
}
