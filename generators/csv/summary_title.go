package csv

import "strings"

// summaryTitle returns the name of a summary as used in a sentence.
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

func capitalize(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}
