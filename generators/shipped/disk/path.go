package disk

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinPath returns the path of a name in the folder at.
func joinPath(at, name string) string {
	if at == "" {
		return name
	}
	return at + "/" + name
}

// displayPath returns a path for display. It is quoted if it has characters that are
// invisible or that change how the text around them is displayed.
func displayPath(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	}) {
		return path
	}
	return strconv.Quote(path)
}

// displayFolder returns the name of the scanned folder as used in a sentence.
func displayFolder(path string) string {
	if path == "." {
		return "the whole folder"
	}
	return displayPath(path)
}
