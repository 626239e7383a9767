// Package chart draws charts as SVG.
package chart

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/histogram"
	"github.com/photon-beam/beam/internal/humanize"
)

// Limits on what a chart shows.
const (
	maxPoints    = 1000
	maxSeries    = 12
	maxText      = 200 // characters of a label or a name
	seriesColors = 6   // the colors repeat after these
)

// A Chart is a chart prepared for rendering. It is limited in size, and drawn in several
// sizes so that its text has about the same size on all screens.
type Chart struct {
	id   string // of its elements
	data generators.Chart
	note string
	rows int // of the table of all its data
}

// Parse parses the body of a chart artifact; ok is false if it is not one. Id begins the
// ids of the elements that SVG writes.
func Parse(id string, body []byte) (c Chart, ok bool) {
	var data generators.Chart
	if json.Unmarshal(body, &data) != nil || !isKind(data.Kind) {
		return c, false
	}
	c = newChart(data)
	c.id = id
	return c, true
}

// ParseTable returns the data of a chart artifact, all of it, as a table; ok is false if body
// isn't one.
func ParseTable(body []byte) (t generators.Table, ok bool) {
	var data generators.Chart
	if json.Unmarshal(body, &data) != nil || !isKind(data.Kind) {
		return t, false
	}
	return limitedChart(data, math.MaxInt, math.MaxInt).Table(), true
}

func isKind(k generators.ChartKind) bool {
	_, known := kindNames[k]
	return known
}

// kindNames describe the forms of charts.
var kindNames = map[generators.ChartKind]string{
	generators.Bars: "Bar chart", generators.Lines: "Line chart", generators.Areas: "Area chart", generators.Histogram: "Histogram",
}

// newChart limits a chart and gives every series a value for each label, NaN where it
// has none.
func newChart(data generators.Chart) Chart {
	c := limitedChart(data, maxSeries, maxPoints)
	c.data.XTitle, c.data.YTitle = drawnText(c.data.XTitle), drawnText(c.data.YTitle)
	for i, l := range c.data.Labels {
		c.data.Labels[i] = drawnText(l)
	}
	for i, s := range c.data.Series {
		c.data.Series[i].Name = drawnText(s.Name)
	}
	return c
}

// drawnText returns a text as it is drawn: of limited length, and without what would
// change how the text after it looks.
func drawnText(s string) string { return cleantext.Text(humanize.Truncate(s, maxText)) }

func limitedChart(data generators.Chart, maxSeries, maxPoints int) Chart {
	data = histogram.Count(data)
	c := Chart{data: data}
	n := len(data.Labels)
	if n == 0 {
		for _, s := range data.Series {
			n = max(n, len(s.Values))
		}
	}
	c.rows = n
	if len(data.Series) > maxSeries {
		c.note = "Showing the first " + humanize.Thousands(maxSeries) + " of " + humanize.Thousands(len(data.Series)) + " series. "
	}
	if n > maxPoints {
		c.note += "Showing the first " + humanize.Thousands(maxPoints) + " of " + humanize.Thousands(n) + " values."
		n = maxPoints
	}
	c.data.Labels = make([]string, n)
	for i := range n {
		c.data.Labels[i] = strconv.Itoa(i + 1)
		if i < len(data.Labels) {
			c.data.Labels[i] = data.Labels[i]
		}
	}
	c.data.Series = nil
	for _, s := range data.Series[:min(len(data.Series), maxSeries)] {
		c.data.Series = append(c.data.Series, generators.Series{Name: s.Name, Values: finiteValues(s.Values, n)})
	}
	return c
}

// finiteValues returns the first n values, with NaN for those that are missing or
// infinite.
func finiteValues(values []float64, n int) []float64 {
	finite := make([]float64, n)
	for i := range finite {
		finite[i] = math.NaN()
		if i < len(values) && !math.IsInf(values[i], 0) {
			finite[i] = values[i]
		}
	}
	return finite
}

// Series returns the series that are drawn.
func (c Chart) Series() []generators.Series { return c.data.Series }

// Note says how much of the data is shown; empty if all of it is.
func (c Chart) Note() string { return c.note }

// IsEmpty reports whether there is nothing to plot.
func (c Chart) IsEmpty() bool {
	lo, _ := c.valueRange()
	return math.IsNaN(lo)
}

// valueRange returns the least and the greatest value; NaN if there is none.
func (c Chart) valueRange() (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, s := range c.data.Series {
		for _, y := range s.Values {
			if math.IsNaN(y) {
				continue
			}
			if math.IsNaN(lo) || y < lo {
				lo = y
			}
			if math.IsNaN(hi) || y > hi {
				hi = y
			}
		}
	}
	return lo, hi
}

// clampValue limits a value so that an axis can extend beyond it.
func clampValue(v float64) float64 { return math.Max(-1e300, math.Min(1e300, v)) }

// description describes the chart in a sentence, for screen readers.
func (c Chart) description() string {
	lo, hi := c.valueRange()
	return kindNames[c.data.Kind] + " of " + humanize.CountOf(len(c.data.Series), "series", "series") + " with " +
		humanize.CountOf(len(c.data.Labels), "value", "values") + " each, from " + compactNumber(lo) + " to " + compactNumber(hi) + "."
}

// Rows returns how many rows the table of all the chart's data has; see [ParseTable].
func (c Chart) Rows() int { return c.rows }

// Table returns the data that is drawn as a table.
func (c Chart) Table() generators.Table {
	first := c.data.XTitle
	if first == "" {
		first = "label"
	}
	t := generators.Table{Columns: []string{first}}
	for _, s := range c.data.Series {
		t.Columns = append(t.Columns, s.Name)
	}
	for i, label := range c.data.Labels {
		row := []any{label}
		for _, s := range c.data.Series {
			if math.IsNaN(s.Values[i]) {
				row = append(row, nil)
			} else {
				row = append(row, s.Values[i])
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
