package disk

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinPath is the path of a name in a folder.
func joinPath(at, name string) string {
	if at == "" {
		return name
	}
	return at + "/" + name
}

// displayPath is a path for people: as it is, or quoted if it has characters that
// can't be seen or that change what is seen around them.
func displayPath(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	}) {
		return path
	}
	return strconv.Quote(path)
}
