package upstream

import (
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// cleanLine returns a text of an upstream as one line of at most limit bytes.
func cleanLine(text string, limit int) string {
	return humanize.TruncateBytes(cleantext.Line(text), limit, "…")
}
