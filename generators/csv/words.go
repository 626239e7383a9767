package csv

import (
	"strconv"
	"strings"
)

// count says how many: 1 row, 1,234 rows.
func count(n int, what string) string {
	return thousands(n) + " " + plural(n, what, what+"s")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// thousands writes a count in groups of three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// summaryTitle is what a summary is called in a sentence.
func summaryTitle(summary string) string {
	switch summary {
	case "count":
		return "count of filled cells"
	case "min":
		return "smallest value"
	case "max":
		return "largest value"
	}
	return summary
}

func capital(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}
