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

// A summary is what is shown of a summaryTable. A step records it.
type summary struct {
	Title    string
	Warnings []string          `json:",omitempty"`
	Table    *generators.Table `json:",omitempty"` // if the charts don't have all of it
	Charts   []titledChart     `json:",omitempty"`
	Digest   string
	Views    []View
}

type titledChart struct {
	Title string
	generators.Chart
}

// makeSummary reads the file another time and returns the chosen summary.
func (f *file) makeSummary(found *tableInfo, chosen DatedChoice) (summary, error) {
	t, err := f.summarize(found, chosen)
	if err != nil {
		return summary{}, f.withFileName(err)
	}
	s := summary{Title: t.title(), Warnings: t.warnings, Digest: t.digest(), Views: t.results()}
	charts, complete := t.charts()
	for _, c := range charts {
		if len(c.Labels) > 1 {
			s.Charts = append(s.Charts, titledChart{c.title, c.Chart})
		}
	}
	if table := t.table(); !complete && (t.groupBy != nil || len(t.columns) > 1) {
		s.Table = &table
	}
	return s, nil
}

func (s *summary) show(yield generators.Yield) {
	yieldWarnings(yield, s.Warnings)
	if s.Table != nil {
		yield(generators.TableOf(s.Title, *s.Table))
	}
	for _, c := range s.Charts {
		yield(generators.ChartOf(c.Title, c.Chart))
	}
	yield(generators.StatusAt(generators.Success, s.Digest))
}

// results returns the view for the photon's result.
func (t *summaryTable) results() []View {
	var all []View
	total, groups := t.total(), t.allGroups()
	for i, c := range t.columns {
		v := View{Title: t.title(), Column: c.Name, Value: t.value(total, i), Unit: t.unit(i)}
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
			part = c.Name + " " + part
		}
		if _, largest := t.extremes(groups, i); t.groupBy != nil && largest != nil {
			part += fmt.Sprintf(", the largest in %s (%s)", largest.label, formatValue(t.value(largest, i), t.unit(i)))
		}
		parts = append(parts, part)
	}
	if len(t.columns) > most {
		parts = append(parts, "and more")
	}
	digest := t.title() + ": " + strings.Join(parts, "; ") + ", over " + humanize.Count(t.info.Rows, "row")
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
		text = humanize.Grouped(roundForReading(v))
		if unit != "" && unit != "%" && v != math.Trunc(v) && math.Abs(v) >= 0.01 {
			text = humanize.Grouped(math.Round(v*100) / 100)
			if point := strings.IndexByte(text, '.'); point >= 0 && len(text)-point == 2 {
				text += "0"
			}
		}
	case string:
		text = v
	}
	switch {
	case unit == "" || v == nil:
		return text
	case unit == "%":
		return text + unit
	case strings.ContainsFunc(unit, unicode.IsLetter) && !strings.HasSuffix(unit, "$"): // "US$" is before the amount
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
