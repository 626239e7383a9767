package policy

import (
	"strings"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// CleanLine returns a text of an upstream as one line of at most limit bytes.
func CleanLine(text string, limit int) string {
	return humanize.TruncateBytes(cleantext.Line(text), limit, "…")
}

// UpperFirst begins a sentence with a capital letter.
func UpperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
