package ask

import (
	"strings"
	"unicode"
)

// CleanName is a file's name without what can't be seen, or changes how what
// stands around it is read, and would make it look like another: controls, and
// Unicode's marks of the direction of text.
func CleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd"))
}
