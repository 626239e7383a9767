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

// maxBars is the number of bars of a chart that are legible.
const maxBars = 50

// A chart is a chart of a view's numbers. notes says what it leaves out. isComplete reports
// whether a table would have nothing more of its columns.
type chart struct {
	title string
	generators.Chart
	notes      []string
	isComplete bool
}

func (c *chart) addNote(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// charts returns the charts of a view: one for each unit, because units have no common axis.
// isComplete reports whether a table would have nothing more.
func (t *summaryTable) charts() (charts []chart, isComplete bool) {
	groups, draw := t.allGroups(), t.groupChart
	if t.groupBy == nil {
		groups, draw = []*group{t.total()}, t.columnChart
	}
	numeric := t.numericColumns(groups)
	var units []string
	drawn := map[string][]int{} // by unit
	for _, i := range numeric {
		unit := t.unit(i)
		if drawn[unit] == nil {
			units = append(units, unit)
		}
		drawn[unit] = append(drawn[unit], i)
	}
	isComplete = len(numeric) == len(t.columns) && (t.groupBy != nil || len(units) == 1)
	for _, unit := range units {
		c := draw(groups, drawn[unit])
		isComplete = isComplete && c.isComplete
		t.noteColumns(&c, numeric)
		names := t.choice.Columns
		if len(units) > 1 {
			names = nil
			for _, i := range drawn[unit] {
				names = append(names, t.columns[i].Name)
			}
		}
		if c.title = t.titleOf(names); len(c.notes) > 0 {
			c.title += " (" + strings.Join(c.notes, "; ") + ")"
		}
		charts = append(charts, c)
	}
	return charts, isComplete
}

// groupChart returns a chart with a bar or a point for each group and each drawn column, all
// of one unit.
func (t *summaryTable) groupChart(groups []*group, drawn []int) chart {
	c := chart{Chart: generators.Chart{Kind: generators.Bars, XTitle: t.choice.GroupBy, YTitle: withUnit(summaryTitle(t.choice.Summary), t.unit(drawn[0]))}}
	all := len(groups)
	if k := t.groupBy.kind; all > 2 && (k == date || k.numeric()) {
		c.Kind, groups = generators.Lines, t.linePoints(&c, drawn)
	} else if all > maxBars {
		c.addNote("the %d largest of %s groups", maxBars, humanize.Thousands(all))
		groups = t.largestGroups(groups, drawn[0])
	}
	for _, i := range drawn {
		c.Series = append(c.Series, generators.Series{Name: t.columns[i].Name})
	}
	missing := 0
	for _, g := range groups {
		c.Labels = append(c.Labels, g.label)
		for n, i := range drawn {
			v, ok := asFloat(t.value(g, i)) // a chart has no gaps
			if !ok {
				missing++
			}
			c.Series[n].Values = append(c.Series[n].Values, v)
		}
	}
	if missing > 0 {
		c.addNote("%s drawn as 0", humanize.CountOf(missing, "missing value is", "missing values are"))
	}
	c.isComplete = len(groups) == all && missing == 0
	return c
}

// linePoints returns the groups that a line through dates or numbers connects, in their
// order, and notes those that it doesn't.
func (t *summaryTable) linePoints(c *chart, drawn []int) []*group {
	var points []*group
	gaps := 0
	for _, g := range t.valueGroups() {
		if !slices.ContainsFunc(drawn, func(i int) bool { _, ok := asFloat(t.value(g, i)); return ok }) {
			gaps++
			continue
		}
		points = append(points, g)
	}
	if gaps > 0 {
		c.addNote("without %s that %s no value", humanize.Count(gaps, "point"), humanize.Plural(gaps, "has", "have"))
	}
	for _, g := range []*group{t.blank, t.undated, t.other} {
		if g != nil {
			c.addNote("without the %s of %s", humanize.Count(g.rows, "row"), g.label)
		}
	}
	return points
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

// noteColumns notes the chosen columns that aren't drawn.
func (t *summaryTable) noteColumns(c *chart, drawn []int) {
	var left []string
	for i, column := range t.columns {
		if !slices.Contains(drawn, i) {
			left = append(left, column.Name)
		}
	}
	if len(left) > 0 {
		c.addNote("without %s, which %s no numbers", strings.Join(left, ", "), humanize.Plural(len(left), "has", "have"))
	}
}

// columnChart returns a chart with a bar for each drawn column, all of one unit.
func (t *summaryTable) columnChart(total []*group, drawn []int) chart {
	summary := summaryTitle(t.choice.Summary)
	series := generators.Series{Name: summary}
	c := chart{isComplete: true, Chart: generators.Chart{Kind: generators.Bars, XTitle: "Column", YTitle: withUnit(summary, t.unit(drawn[0]))}}
	for _, i := range drawn {
		v, _ := asFloat(t.value(total[0], i))
		c.Labels = append(c.Labels, t.columns[i].Name)
		series.Values = append(series.Values, v)
	}
	c.Series = []generators.Series{series}
	return c
}

// largestGroups returns the groups with the largest values in the i-th column.
func (t *summaryTable) largestGroups(groups []*group, i int) []*group {
	size := func(g *group) float64 { v, _ := asFloat(t.value(g, i)); return math.Abs(v) }
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(size(b), size(a)) })
	return groups[:maxBars]
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
