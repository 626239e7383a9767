package ui

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

// A chartView is a chart prepared for rendering, once for wide and once for narrow
// screens so that its text has the same size on both.
type chartView struct {
	id    string
	chart generators.Chart
	note  string // how much of the data is shown, if not all
}

// parseChart parses the body of a chart; ok is false if it is not one.
func parseChart(id, title string, body []byte) (v chartView, ok bool) {
	var c generators.Chart
	if json.Unmarshal(body, &c) != nil || c.Kind != generators.Bars && c.Kind != generators.Lines {
		return v, false
	}
	v = newChartView(c)
	v.id = id
	return v, true
}

// newChartView limits a chart and gives every series a value for each label, NaN where
// it has none.
func newChartView(c generators.Chart) chartView {
	v := chartView{chart: c}
	n := len(c.Labels)
	if n == 0 {
		for _, s := range c.Series {
			n = max(n, len(s.Values))
		}
	}
	if len(c.Series) > maxSeries {
		v.note = "Showing the first " + humanize.Thousands(maxSeries) + " of " + humanize.Thousands(len(c.Series)) + " series. "
	}
	if n > maxPoints {
		v.note += "Showing the first " + humanize.Thousands(maxPoints) + " of " + humanize.Thousands(n) + " values."
		n = maxPoints
	}
	v.chart.Labels = make([]string, n)
	for i := range n {
		v.chart.Labels[i] = strconv.Itoa(i + 1)
		if i < len(c.Labels) {
			v.chart.Labels[i] = c.Labels[i]
		}
	}
	v.chart.Series = nil
	for _, s := range c.Series[:min(len(c.Series), maxSeries)] {
		values := make([]float64, n)
		for i := range values {
			values[i] = math.NaN()
			if i < len(s.Values) && !math.IsInf(s.Values[i], 0) {
				values[i] = s.Values[i]
			}
		}
		v.chart.Series = append(v.chart.Series, generators.Series{Name: s.Name, Values: values})
	}
	return v
}

// isEmpty reports whether there is nothing to plot.
func (v chartView) isEmpty() bool {
	lo, _ := v.valueRange()
	return math.IsNaN(lo)
}

// valueRange returns the least and the greatest value; NaN if there is none.
func (v chartView) valueRange() (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, s := range v.chart.Series {
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
func (v chartView) description() string {
	lo, hi := v.valueRange()
	kind := "Bar chart"
	if v.chart.Kind == generators.Lines {
		kind = "Line chart"
	}
	return kind + " of " + formatCount(len(v.chart.Series), "series", "series") + " with " +
		formatCount(len(v.chart.Labels), "value", "values") + " each, from " + compactNumber(lo) + " to " + compactNumber(hi) + "."
}

// toTable returns the chart's data as a table.
func (v chartView) toTable(caption string) tableView {
	first := v.chart.XTitle
	if first == "" {
		first = "label"
	}
	t := generators.Table{Columns: []string{first}}
	for _, s := range v.chart.Series {
		t.Columns = append(t.Columns, s.Name)
	}
	for i, label := range v.chart.Labels {
		row := []any{label}
		for _, s := range v.chart.Series {
			if math.IsNaN(s.Values[i]) {
				row = append(row, nil)
			} else {
				row = append(row, s.Values[i])
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return newTableView(caption, t)
}

// An axisScale maps values to pixels. Its ticks are round numbers.
type axisScale struct {
	min, max float64 // values
	from, to float64 // pixels
	ticks    []float64
	step     float64
}

// newScale returns a scale from lo to hi with about n ticks, at multiples of 1, 2 or 5
// times a power of ten.
func newScale(lo, hi float64, n int) axisScale {
	if lo == hi { // also where both are 0
		pad := math.Max(math.Abs(lo)/2, 1)
		if lo >= 0 && lo-pad < 0 {
			lo, hi = 0, hi+pad
		} else {
			lo, hi = lo-pad, hi+pad
		}
	}
	step := niceStep((hi/2 - lo/2) / float64(n) * 2)
	s := axisScale{step: step}
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	for k := first; k <= last && len(s.ticks) < 50; k++ {
		s.ticks = append(s.ticks, k*step)
	}
	s.min, s.max = s.ticks[0], s.ticks[len(s.ticks)-1]
	return s
}

func niceStep(raw float64) float64 {
	if raw <= 0 || math.IsInf(raw, 0) || math.IsNaN(raw) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	if power == 0 {
		return raw
	}
	switch m := raw / power; {
	case m <= 1:
		return power
	case m <= 2:
		return 2 * power
	case m <= 5:
		return 5 * power
	}
	return 10 * power
}

func (s axisScale) position(v float64) float64 {
	f := (clampValue(v)/2 - s.min/2) / (s.max/2 - s.min/2)
	return s.from + f*(s.to-s.from)
}

// tickLabel formats a tick's value, as precisely as the ticks require.
func (s axisScale) tickLabel(v float64) string {
	if math.Abs(v) < s.step/1e6 {
		return "0"
	}
	if largest := math.Max(math.Abs(s.min), math.Abs(s.max)); largest >= 1e4 || largest < 1e-4 {
		return compactNumber(v)
	}
	digits := max(0, -int(math.Floor(math.Log10(s.step)+1e-9)))
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// compactNumber formats a number in few characters: 950, 12.5k, 3M, 1T.
func compactNumber(v float64) string {
	abs := math.Abs(v)
	if abs >= 1e15 || abs != 0 && abs < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	unit := ""
	for _, u := range []string{"k", "M", "B", "T"} {
		if abs < 9999.5 && unit == "" || abs < 999.5 {
			break
		}
		abs, v, unit = abs/1000, v/1000, u
	}
	digits := 3 - int(math.Floor(math.Log10(math.Max(abs, 1)))) - 1
	s := strconv.FormatFloat(v, 'f', max(digits, 0), 64)
	return trimZeros(s) + unit
}

func trimZeros(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] != '.' {
			continue
		}
		end := len(s)
		for s[end-1] == '0' {
			end--
		}
		if s[end-1] == '.' {
			end--
		}
		return s[:end]
	}
	return s
}
