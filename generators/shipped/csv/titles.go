package csv

import (
	"strings"

	"github.com/photon-beam/beam/internal/humanize"
)

// title returns the view's title, such as Sum of price by date, in months.
func (t *summaryTable) title() string { return t.titleOf(t.choice.Columns) }

// titleOf returns the title of the view for some of its columns.
func (t *summaryTable) titleOf(columns []string) string {
	title := capitalize(summaryTitle(t.choice.Summary)) + " of " + strings.Join(columns, ", ")
	if t.groupBy != nil {
		title += " by " + t.choice.GroupBy
		if t.period != exact {
			title += ", in " + t.period.String()
		}
	}
	return humanize.Truncate(title, maxShownText)
}

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

// withUnit adds a unit, if there is one, to a name.
func withUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

func capitalize(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}
