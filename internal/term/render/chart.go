package render

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/histogram"
	"github.com/photon-beam/beam/internal/humanize"
)

// seriesStyles are the colors of a chart's series, in turn.
var seriesStyles = []string{Cyan, Magenta, Yellow, Green, Blue, Red}

// chart draws a chart with blocks.
func (r *Renderer) chart(c generators.Chart) string {
	var b strings.Builder
	c = histogram.Count(c)
	for i, s := range c.Series {
		style := seriesStyles[i%len(seriesStyles)]
		if name := cleantext.Line(s.Name); name != "" && (len(c.Series) > 1 || name != cleantext.Line(c.YTitle)) {
			b.WriteString(r.Style.Paint(style, ansi.Truncate(name, r.Width, "…")) + "\n")
		}
		if c.Kind == generators.Lines || c.Kind == generators.Areas {
			b.WriteString(r.line(c.Labels, s.Values, style))
		} else {
			b.WriteString(r.bars(c.Labels, s.Values, style))
		}
	}
	return b.String()
}

// bars returns a horizontal bar for each value. One below zero has no bar.
func (r *Renderer) bars(labels []string, values []float64, style string) string {
	most, labelWidth, numberWidth := 0.0, 0, 0
	for i, v := range values {
		most = max(most, v)
		labelWidth = max(labelWidth, ansi.StringWidth(labelAt(labels, i)))
		numberWidth = max(numberWidth, len(humanize.Number(v)))
	}
	labelWidth = min(labelWidth, r.Width/3)
	columns := max(r.Width-labelWidth-numberWidth-2, 1)
	var b strings.Builder
	for i, v := range values {
		label := ansi.Truncate(labelAt(labels, i), labelWidth, "…")
		b.WriteString(label + strings.Repeat(" ", labelWidth-ansi.StringWidth(label)) + " ")
		if most > 0 && v > 0 {
			b.WriteString(r.Style.Paint(style, Bar(v/most*float64(columns))) + " ")
		}
		b.WriteString(humanize.Number(v) + "\n")
	}
	return b.String()
}

func labelAt(labels []string, i int) string {
	if i < len(labels) {
		return cleantext.Line(labels[i])
	}
	return ""
}

// lineRows is the height of a line chart.
const lineRows = 6

// heights are blocks of one to eight eighths of a row.
var heights = []rune("▁▂▃▄▅▆▇█")

// line returns the area below a line, and its first and last label. Each column has the
// mean of the values that fall into it.
func (r *Renderer) line(labels []string, values []float64, style string) string {
	if len(values) == 0 {
		return ""
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	top, bottom := humanize.Number(high), humanize.Number(low)
	margin := max(len(top), len(bottom))
	columns := sampleColumns(values, max(r.Width-margin-1, 1))
	var b strings.Builder
	for row := lineRows - 1; row >= 0; row-- {
		label := ""
		switch row {
		case lineRows - 1:
			label = top
		case 0:
			label = bottom
		}
		var line strings.Builder
		for _, v := range columns {
			level := lineRows * 8 / 2
			if high > low {
				level = 1 + int(math.Round((v-low)/(high-low)*float64(lineRows*8-1)))
			}
			switch part := level - row*8; {
			case part >= 8:
				line.WriteRune(heights[7])
			case part > 0:
				line.WriteRune(heights[part-1])
			default:
				line.WriteByte(' ')
			}
		}
		b.WriteString(strings.Repeat(" ", margin-len(label)) + label + " " + r.Style.Paint(style, strings.TrimRight(line.String(), " ")) + "\n")
	}
	if first, last := labelAt(labels, 0), labelAt(labels, len(values)-1); first != "" && len(values) > 1 {
		b.WriteString(ansi.Truncate(strings.Repeat(" ", margin+1)+first+" – "+last, r.Width, "…") + "\n")
	}
	return b.String()
}

// sampleColumns returns at most n values, each the mean of as many.
func sampleColumns(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	columns := make([]float64, n)
	for i := range columns {
		from, to := i*len(values)/n, (i+1)*len(values)/n
		sum := 0.0
		for _, v := range values[from:to] {
			sum += v
		}
		columns[i] = sum / float64(to-from)
	}
	return columns
}
