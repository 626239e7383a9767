package upstream

import (
	"strings"
	"unicode"

	"github.com/photon-beam/beam/internal/humanize"
)

// cleanLine returns a text of an upstream as one line of at most limit bytes, without
// control and formatting characters.
func cleanLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	return humanize.TruncateBytes(text, limit, "…")
}
