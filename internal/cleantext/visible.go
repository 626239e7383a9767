package cleantext

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible returns text with a sign in place of each character that nobody would see and that
// may hide or reorder others: ␛ for an escape character, [U+202E] for one that changes the
// direction of text. It removes only sequences that set colors. A person who decides by the
// text thus sees all of it.
func Visible(text string) string {
	if isClean(text) {
		return text
	}
	text = ansiSequence.ReplaceAllStringFunc(strings.ToValidUTF8(text, "\ufffd"), func(sequence string) string {
		if textStyle.MatchString(sequence) {
			return ""
		}
		return sequence
	})
	var b strings.Builder
	for _, r := range strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n") {
		switch {
		case r == '\n', r == '\t', harmless[r]:
			b.WriteRune(r)
		case r == '\x7f':
			b.WriteRune('␡')
		case r < ' ':
			b.WriteRune('␀' + r)
		case unicode.IsControl(r), isInvisible(r), unicode.In(r, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// harmless are invisible characters that ordinary texts have: soft hyphens, the joiners and
// variants of words and emoji, and marks of direction without an extent.
var harmless = map[rune]bool{
	'\u00ad': true, '\u200c': true, '\u200d': true, '\ufe0e': true, '\ufe0f': true, '\u200e': true, '\u200f': true, '\u061c': true,
}

// Name returns a name as a label: as [Line] does, unless nothing of it is left.
func Name(name string) string {
	if line := Line(name); line != "" {
		return line
	}
	return Visible(name)
}
