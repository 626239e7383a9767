package humanize

import (
	"strings"
	"unicode/utf8"
)

// Truncate returns s if it has at most n characters, and otherwise its first n
// characters followed by an ellipsis.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	characters := 0
	for i := range s {
		if characters == n {
			return s[:i] + "…"
		}
		characters++
	}
	return s
}

// TruncateBytes returns s if it has at most n bytes, and otherwise as many of
// its characters as fit, followed by mark, in at most n bytes. n must be at
// least len(mark).
func TruncateBytes(s string, n int, mark string) string {
	if len(s) <= n {
		return s
	}
	end := n - len(mark)
	// Text that isn't UTF-8 has no character to keep whole.
	for i := 1; i < utf8.UTFMax && end > 0 && !utf8.RuneStart(s[end]); i++ {
		end--
	}
	return s[:end] + mark
}

// List returns the first names of a list, limit of them at most, and how many more there
// are: "a, b and 2 more".
func List(names []string, limit int) string {
	text := strings.Join(names[:min(len(names), limit)], ", ")
	if more := len(names) - limit; more > 0 {
		text += " and " + CountOf(more, "more", "more")
	}
	return text
}
