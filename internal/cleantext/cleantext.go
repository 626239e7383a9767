// Package cleantext removes from the text of tools, models and upstreams what a terminal
// or a reader could take for something else.
package cleantext

import (
	"regexp"
	"strings"
	"unicode"
)

// ansiSequence matches the escape sequences of terminals (ECMA-48).
var ansiSequence = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|\x{9b}[0-?]*[ -/]*[@-~]`)

// textStyle matches the escape sequences that set colors and the like.
var textStyle = regexp.MustCompile(`^(?:\x1b\[|\x{9b})[0-9;:]*m$`)

// HidesText reports whether Text removes an escape sequence that may have text which
// is of importance to others than terminals.
func HidesText(text string) bool {
	for _, sequence := range ansiSequence.FindAllString(text, -1) {
		if !textStyle.MatchString(sequence) {
			return true
		}
	}
	return false
}

// Text returns text without what a terminal or a reader could take for something
// else: escape sequences, control characters other than line feeds and tabs, and
// invisible characters, which those that change the direction of text are among.
func Text(text string) string {
	if isClean(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = ansiSequence.ReplaceAllString(text, "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d', r == '\ufe0e', r == '\ufe0f': // joiners and variants are part of words and emoji
			return r
		case r == '\r', unicode.In(r, unicode.Zl, unicode.Zp):
			return '\n'
		case unicode.IsControl(r), isInvisible(r):
			return -1
		}
		return r
	}, text)
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

// isInvisible reports whether nobody sees r: it is a formatting character, which those that
// change the direction of text are among, a filler, or selects a variant.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Line returns a tool's text in one line, and without what a reader could take for
// something else, for a place where other text follows in lines of its own.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }
