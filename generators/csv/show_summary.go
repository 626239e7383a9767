package csv

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// showSummary yields the summary as a table and a chart, and warnings about it. It
// returns the warnings.
func (t *summaryTable) showSummary(yield generators.Yield) []string {
	warnings := t.warnings()
	yieldWarnings(yield, warnings)
	groups := t.sortedGroups()
	yield(generators.TableOf(t.title(), t.toTable(groups)))
	if chart, ok := t.toChart(groups); ok {
		yield(generators.ChartOf(t.title(), chart))
	}
	yield(generators.StatusAt(generators.Success, fmt.Sprintf("%s, over %s", t.title(), humanize.Count(t.info.rows, "row"))))
	return warnings
}

func (t *summaryTable) title() string {
	title := capitalize(summaryTitle(t.choice.Summary)) + " of " + strings.Join(t.choice.Columns, ", ")
	if t.groupColumn >= 0 {
		title += " by " + t.choice.GroupBy
	}
	return humanize.Truncate(title, maxShownText)
}

func (t *summaryTable) toTable(groups []*group) generators.Table {
	if t.groupColumn < 0 {
		table := generators.Table{Columns: []string{"Column", capitalize(summaryTitle(t.choice.Summary))}}
		for i, name := range t.choice.Columns {
			table.Rows = append(table.Rows, []any{name, t.value(groups[0], i)})
		}
		return table
	}
	table := generators.Table{Columns: append(append([]string{t.choice.GroupBy}, t.choice.Columns...), "Rows")}
	for _, g := range groups {
		row := []any{g.label}
		for i := range t.columns {
			row = append(row, t.value(g, i))
		}
		table.Rows = append(table.Rows, append(row, g.rows))
	}
	return table
}

const (
	maxBars  = 50
	maxLines = maxGroups + 2
)

// toChart returns a chart of the numeric values. ok is false if there are none.
func (t *summaryTable) toChart(groups []*group) (c generators.Chart, ok bool) {
	if t.groupColumn < 0 {
		return t.columnChart(groups[0])
	}
	c = generators.Chart{Kind: generators.Bars, XTitle: t.choice.GroupBy, YTitle: summaryTitle(t.choice.Summary)}
	most := maxBars
	if k := t.info.columns[t.groupColumn].kind(); len(groups) > 2 && (k == date || k.numeric()) {
		c.Kind, most = generators.Lines, maxLines
	}
	drawn := t.numericColumns(groups)
	if len(drawn) == 0 {
		return c, false
	}
	groups = t.largestGroups(groups, drawn[0], most)
	for _, g := range groups {
		c.Labels = append(c.Labels, g.label)
	}
	for _, i := range drawn {
		series := generators.Series{Name: t.choice.Columns[i]}
		for _, g := range groups {
			v, _ := asFloat(t.value(g, i)) // a missing value is drawn as 0, because a chart has no gaps
			series.Values = append(series.Values, v)
		}
		c.Series = append(c.Series, series)
	}
	return c, true
}

// numericColumns returns the indexes of the chosen columns that have a number in some
// group.
func (t *summaryTable) numericColumns(groups []*group) []int {
	var columns []int
	for i := range t.columns {
		if slices.ContainsFunc(groups, func(g *group) bool { _, ok := asFloat(t.value(g, i)); return ok }) {
			columns = append(columns, i)
		}
	}
	return columns
}

// columnChart returns a chart with a bar for each column.
func (t *summaryTable) columnChart(all *group) (generators.Chart, bool) {
	title := summaryTitle(t.choice.Summary)
	series := generators.Series{Name: title}
	c := generators.Chart{Kind: generators.Bars, XTitle: "Column", YTitle: title}
	for i, name := range t.choice.Columns {
		if v, ok := asFloat(t.value(all, i)); ok {
			c.Labels = append(c.Labels, name)
			series.Values = append(series.Values, v)
		}
	}
	c.Series = []generators.Series{series}
	return c, len(c.Labels) > 0
}

// largestGroups returns the groups with the largest values in the i-th column, at
// most so many, or all groups in their order if there aren't more.
func (t *summaryTable) largestGroups(groups []*group, i, most int) []*group {
	if len(groups) <= most {
		return groups
	}
	size := func(g *group) float64 { v, _ := asFloat(t.value(g, i)); return math.Abs(v) }
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(size(b), size(a)) })
	return groups[:most]
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
