// Package words writes numbers as people read them.
package humanize

import (
	"fmt"
	"strconv"
)

// Count says how many: 1 row, 1,234 rows. The plural is made with an s.
func Count(n int, what string) string {
	return Thousands(n) + " " + Plural(n, what, what+"s")
}

// Plural is the first for one, and the second for every other number.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Thousands writes a count in groups of three digits: 12,345.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes is a number of bytes, by powers of 1,000: 12 bytes, 3.4 MB.
func Bytes(bytes int64) string {
	divisor, unit := ByteUnit(bytes)
	v := float64(bytes) / divisor
	switch {
	case divisor == 1:
		return Count(int(bytes), "byte")
	case v < 9.95:
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}

// ByteUnit is the unit to write so many bytes in, and how many bytes it has.
func ByteUnit(bytes int64) (divisor float64, unit string) {
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
