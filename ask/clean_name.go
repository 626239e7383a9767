package ask

import (
	"strings"
	"unicode"
)

// CleanName returns a file's name without characters that could make it look like
// another name: control characters, line and paragraph separators, and Unicode's
// bidirectional controls. It replaces invalid UTF-8 by U+FFFD.
func CleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd"))
}
