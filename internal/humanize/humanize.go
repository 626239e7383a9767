// Package humanize formats numbers, sizes, durations and long texts for people.
// It is the only place that does.
package humanize

import (
	"fmt"
	"strconv"
)

// Count formats n with its noun: "1 row", "1,234 rows". The plural adds an s;
// see [CountOf] for nouns that form it otherwise.
func Count(n int, noun string) string {
	return CountOf(n, noun, noun+"s")
}

// CountOf formats n with the word that [Plural] selects: "1 entry", "2 entries".
func CountOf(n int, one, many string) string {
	return Thousands(n) + " " + Plural(n, one, many)
}

// Plural returns one if n is 1, and many otherwise.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Thousands formats n with its digits in groups of three: "12,345".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes formats a size in powers of 1,000: "12 bytes", "3.4 MB".
func Bytes(n int64) string {
	divisor, unit := ByteUnit(n)
	v := float64(n) / divisor
	switch {
	case divisor == 1:
		return Count(int(n), "byte")
	case v < 9.95:
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}

// ByteUnit returns the unit in which [Bytes] formats n, and its size in bytes.
func ByteUnit(n int64) (divisor float64, unit string) {
	if n < 1000 {
		return 1, "bytes"
	}
	divisor = 1
	for _, unit = range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		divisor *= 1000
		if float64(n)/divisor < 999.5 {
			break
		}
	}
	return divisor, unit
}
