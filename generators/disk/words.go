package disk

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// count says how many: 1 file, 1,234 files.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// thousands writes a count in groups of three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size is a number of bytes as people read it: "12 bytes", "3.4 MB".
func size(bytes int64) string {
	divisor, unit := unitOf(bytes)
	v := float64(bytes) / divisor
	switch {
	case unit == "bytes":
		return count(int(bytes), "byte")
	case v < 9.95:
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}

// unitOf is the unit, by powers of 1,000, to write so many bytes in.
func unitOf(bytes int64) (divisor float64, unit string) {
	if bytes < 1000 {
		return 1, "bytes"
	}
	divisor = 1
	for _, unit = range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		divisor *= 1000
		if float64(bytes)/divisor < 999.5 {
			break
		}
	}
	return divisor, unit
}

// join is the path of a name in a folder.
func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "/" + name
}

// shown is a path for people: as it is, or quoted if it has characters that
// can't be seen or that change what is seen around them.
func shown(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	}) {
		return path
	}
	return strconv.Quote(path)
}
