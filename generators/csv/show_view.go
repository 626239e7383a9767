package csv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// show yields the view: as a chart or, if a chart doesn't have all of it, also as a
// table. It returns the warnings, which it yields as well.
func (t *summaryTable) show(yield generators.Yield) []string {
	yieldWarnings(yield, t.warnings)
	c := t.chart()
	if !c.isComplete && (t.groupBy != nil || len(t.columns) > 1) {
		yield(generators.TableOf(t.title(), t.table()))
	}
	if len(c.Labels) > 1 {
		title := t.title()
		if len(c.notes) > 0 {
			title += " (" + strings.Join(c.notes, "; ") + ")"
		}
		yield(generators.ChartOf(title, c.Chart))
	}
	yield(generators.StatusAt(generators.Success, t.digest()))
	return t.warnings
}

// results returns the view for the photon's result.
func (t *summaryTable) results() []View {
	var all []View
	total, groups := t.total(), t.allGroups()
	for i, c := range t.columns {
		v := View{Title: t.title(), Column: c.name, Value: t.value(total, i), Unit: t.unit(i)}
		if t.groupBy != nil {
			v.Groups = len(groups)
			if least, most := t.extremes(groups, i); most != nil {
				largest, _ := asFloat(t.value(most, i))
				smallest, _ := asFloat(t.value(least, i))
				v.LargestGroup, v.LargestValue, v.SmallestGroup, v.SmallestValue = most.label, &largest, least.label, &smallest
			}
		}
		all = append(all, v)
	}
	return all
}

// extremes returns the groups with the smallest and the largest number in the i-th
// column, or nil.
func (t *summaryTable) extremes(groups []*group, i int) (least, most *group) {
	for _, g := range groups {
		v, ok := asFloat(t.value(g, i))
		if !ok {
			continue
		}
		if least == nil {
			least, most = g, g
		}
		if low, _ := asFloat(t.value(least, i)); v < low {
			least = g
		}
		if high, _ := asFloat(t.value(most, i)); v > high {
			most = g
		}
	}
	return least, most
}

// unit returns the unit of the i-th column's values.
func (t *summaryTable) unit(i int) string {
	if t.choice.Summary == "count" {
		return ""
	}
	return t.columns[i].unit()
}

// digest returns the view's title and its most important values, for a status.
func (t *summaryTable) digest() string {
	const most = 3
	total, groups := t.total(), t.allGroups()
	var parts []string
	for i, c := range t.columns[:min(len(t.columns), most)] {
		part := formatValue(t.value(total, i), t.unit(i))
		if len(t.columns) > 1 {
			part = c.name + " " + part
		}
		if _, largest := t.extremes(groups, i); t.groupBy != nil && largest != nil {
			part += fmt.Sprintf(", the largest in %s (%s)", largest.label, formatValue(t.value(largest, i), t.unit(i)))
		}
		parts = append(parts, part)
	}
	if len(t.columns) > most {
		parts = append(parts, "and more")
	}
	digest := t.title() + ": " + strings.Join(parts, "; ") + ", over " + humanize.Count(t.info.rows, "row")
	if t.groupBy != nil {
		digest += " in " + humanize.Count(len(groups), "group")
	}
	return digest
}

func formatValue(v any, unit string) string {
	text := "nothing"
	switch v := v.(type) {
	case int:
		text = humanize.Thousands(v)
	case float64:
		text = humanize.Number(roundForReading(v))
	case string:
		text = v
	}
	switch {
	case unit == "" || v == nil:
		return text
	case unit == "%":
		return text + unit
	case strings.ContainsFunc(unit, unicode.IsLetter):
		return text + " " + unit
	case strings.HasPrefix(text, "-"):
		return "-" + unit + text[1:]
	}
	return unit + text
}

// roundForReading rounds a number to three decimals, or to four digits if it is small.
// The chart and the result have it in full.
func roundForReading(f float64) float64 {
	text := strconv.FormatFloat(f, 'f', 3, 64)
	if math.Abs(f) < 1 {
		text = strconv.FormatFloat(f, 'g', 4, 64)
	}
	rounded, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return f
	}
	return rounded
}

func (t *summaryTable) table() generators.Table {
	if t.groupBy == nil {
		table := generators.Table{Columns: []string{"Column", capitalize(summaryTitle(t.choice.Summary))}}
		total := t.total()
		for i, name := range t.choice.Columns {
			table.Rows = append(table.Rows, []any{withUnit(name, t.unit(i)), t.value(total, i)})
		}
		return table
	}
	table := generators.Table{Columns: []string{t.choice.GroupBy}}
	for i, name := range t.choice.Columns {
		table.Columns = append(table.Columns, withUnit(name, t.unit(i)))
	}
	table.Columns = append(table.Columns, "Rows")
	for _, g := range t.allGroups() {
		row := []any{g.label}
		for i := range t.columns {
			row = append(row, t.value(g, i))
		}
		table.Rows = append(table.Rows, append(row, g.rows))
	}
	return table
}
