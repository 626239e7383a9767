package csv

import "strings"

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

func capitalize(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}
