// Package cleantext marks in the text of tools, models, people and upstreams what a reader
// could not see, or could take for something else. Whatever a person reads before deciding
// goes through [Text], [Line] or [Name], on every surface.
package cleantext

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textStyle matches the escape sequences of terminals that set colors and the like.
var textStyle = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-9;:]*m`)

// Text returns text with a mark in place of each character that nobody would see and that
// may hide, reorder or imitate others: ‹U+202E› for one that changes the direction of text,
// ␛ for an escape character. Of these it leaves what scripts and emoji are written with,
// where they are; see [isPartOfWriting]. It removes a byte order mark, carriage returns
// before line feeds, and the escape sequences that set colors. Text(Text(s)) is Text(s).
func Text(text string) string {
	if isClean(text) {
		return text
	}
	text = textStyle.ReplaceAllString(strings.TrimPrefix(strings.ToValidUTF8(text, "\ufffd"), "\ufeff"), "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for range maxPasses {
		marked := mark(text, isPartOfWriting)
		if marked == text {
			return text
		}
		text = marked
	}
	return mark(text, func([]rune, int) bool { return false })
}

// maxPasses limits how often a text is looked at, since a mark may separate what has the next
// character from what it belongs to.
const maxPasses = 4

// mark marks the characters of a text that are invisible and not kept.
func mark(text string, isKept func([]rune, int) bool) string {
	runes := []rune(text)
	var b strings.Builder
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case r == '\x7f':
			b.WriteRune('␡')
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == flag && tagSequence(runes[i:]) > 0:
			n := tagSequence(runes[i:])
			b.WriteString(string(runes[i : i+n]))
			i += n - 1
		case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp), isInvisible(r) && !isKept(runes, i):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line returns a text in one line and otherwise as [Text] does, for a place where other text
// follows in lines of its own.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// Name returns a name as a label: as [Line] does, unless that is empty. Of a name that is
// nothing but space, it marks the space.
func Name(name string) string {
	if line := Line(name); line != "" {
		return line
	}
	var b strings.Builder
	for _, r := range name {
		fmt.Fprintf(&b, "‹U+%04X›", r)
	}
	return b.String()
}

// isClean reports whether a text is ASCII without control characters, as most are.
func isClean(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// IsPlain reports whether [Text] returns a text as it is, wherever that is cut. It may report
// false for a text that Text returns as it is.
func IsPlain(text []byte) bool {
	for len(text) > 0 {
		if c := text[0]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			text = text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		if n <= 1 || r < 0xa0 || unicode.In(r, unicode.Zl, unicode.Zp) || isInvisible(r) {
			return false
		}
		text = text[n:]
	}
	return true
}

// isInvisible reports whether nobody sees r: it is a formatting character, which those that
// change the direction of text are among, a filler, or selects a variant.
func isInvisible(r rune) bool {
	return r == blankBraille || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
