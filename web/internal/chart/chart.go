// Package chart draws charts as SVG.
package chart

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// Limits on what a chart shows.
const (
	maxPoints    = 1000
	maxSeries    = 12
	seriesColors = 6 // the colors repeat after these
)

// A Chart is a chart prepared for rendering. It is limited in size, and drawn in several
// sizes so that its text has about the same size on all screens.
type Chart struct {
	id   string // of its elements
	data generators.Chart
	note string
}

// Parse parses the body of a chart artifact; ok is false if it is not one. Id begins the
// ids of the elements that SVG writes.
func Parse(id string, body []byte) (c Chart, ok bool) {
	var data generators.Chart
	if json.Unmarshal(body, &data) != nil || data.Kind != generators.Bars && data.Kind != generators.Lines {
		return c, false
	}
	c = newChart(data)
	c.id = id
	return c, true
}

// newChart limits a chart and gives every series a value for each label, NaN where it
// has none.
func newChart(data generators.Chart) Chart {
	c := Chart{data: data}
	n := len(data.Labels)
	if n == 0 {
		for _, s := range data.Series {
			n = max(n, len(s.Values))
		}
	}
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
	kind := "Bar chart"
	if c.data.Kind == generators.Lines {
		kind = "Line chart"
	}
	return kind + " of " + humanize.CountOf(len(c.data.Series), "series", "series") + " with " +
		humanize.CountOf(len(c.data.Labels), "value", "values") + " each, from " + compactNumber(lo) + " to " + compactNumber(hi) + "."
}

// Table returns the chart's data as a table.
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
