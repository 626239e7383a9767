package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

func (d *drawing) layOutVertical() {
	widest := 0.0
	for _, t := range d.valueScale.ticks {
		widest = math.Max(widest, textWidth(d.valueScale.tickLabel(t)))
	}
	d.left, d.right = math.Ceil(widest)+plotGap, d.width-2
	d.top, d.bottom = plotGap, d.height-lineHeight-plotGap
	if d.chart.data.YTitle != "" {
		d.top += lineHeight + 4
	}
	if d.chart.data.XTitle != "" {
		d.bottom -= lineHeight + 2
	}
	d.valueScale.from, d.valueScale.to = d.bottom, d.top
}

// drawVerticalAxes draws the value axis on the left and the labels below. Labels are
// centered in their slots, or, if not centered, span the axis from edge to edge.
func (d *drawing) drawVerticalAxes(centered bool) {
	for _, t := range d.valueScale.ticks {
		y := d.valueScale.position(t)
		d.drawLine(gridClass(t), d.left, y, d.right, y)
		d.drawText("tick", d.left-plotGap, y+4, "end", d.valueScale.tickLabel(t))
	}
	if s := d.chart.data.YTitle; s != "" {
		d.drawText("axis-title", 0, lineHeight-4, "start", truncateToWidth(s, d.width))
	}
	if s := d.chart.data.XTitle; s != "" {
		d.drawText("axis-title", (d.left+d.right)/2, d.height-4, "middle", truncateToWidth(s, d.right-d.left))
	}
	every := d.labelInterval()
	for i := 0; i < len(d.chart.data.Labels); i += every {
		anchor, x := "middle", d.categoryPosition(i, centered)
		l := truncateToWidth(d.chart.data.Labels[i], 0.9*float64(every)*math.Max(d.slotWidth(), 30))
		half := textWidth(l) / 2
		if x+half > d.width {
			anchor, x = "end", d.right
		} else if x-half < 0 {
			anchor, x = "start", 0
		}
		d.drawText("tick", x, d.bottom+lineHeight, anchor, l)
	}
}

// labelInterval returns n such that there is room for every nth label.
func (d *drawing) labelInterval() int {
	widest := 0.0
	for _, l := range d.chart.data.Labels {
		widest = math.Max(widest, math.Min(textWidth(l), 120))
	}
	return max(1, int(math.Ceil((widest+2*plotGap)/math.Max(d.slotWidth(), 0.001))))
}

func (d *drawing) slotWidth() float64 {
	return (d.right - d.left) / math.Max(float64(len(d.chart.data.Labels)), 1)
}

// categoryPosition returns the x coordinate of the ith value.
func (d *drawing) categoryPosition(i int, centered bool) float64 {
	if centered || len(d.chart.data.Labels) < 2 {
		return d.left + (float64(i)+0.5)*d.slotWidth()
	}
	const inset = 6
	return d.left + inset + float64(i)*(d.right-d.left-2*inset)/float64(len(d.chart.data.Labels)-1)
}

func (d *drawing) drawVerticalBars() {
	slot := d.slotWidth()
	n := float64(len(d.chart.data.Series))
	group := math.Min(slot*0.74, 64*n)
	thick := group / n
	zero := d.valueScale.position(math.Max(d.valueScale.min, math.Min(0, d.valueScale.max)))
	for k, s := range d.chart.data.Series {
		for i, v := range s.Values {
			if math.IsNaN(v) {
				continue
			}
			x := d.categoryPosition(i, true) - group/2 + float64(k)*thick
			y := d.valueScale.position(v)
			d.drawBar(k, i, x, math.Min(y, zero), math.Max(thick-math.Min(1.5, thick*0.2), 0.5), math.Abs(zero-y))
		}
	}
}

// drawSeriesLines draws a line for each series, with gaps where values are missing, and fills
// what is between it and zero in a chart of areas.
func (d *drawing) drawSeriesLines() {
	for k, s := range d.chart.data.Series {
		if d.chart.data.Kind == generators.Areas {
			d.drawArea(k, s.Values)
		}
		var path strings.Builder
		points := 0
		for i, v := range s.Values {
			if math.IsNaN(v) {
				continue
			}
			path.WriteString(d.pathStep(s.Values, i))
			points++
		}
		fmt.Fprintf(d, `<path %s d="%s" fill="none"/>`, d.attributes("stroke", k), path.String())
		if points <= 40 {
			d.drawDots(k, s.Values)
		}
	}
}

// pathStep returns the step of a path to the ith value: a line from the one before it, if
// there is one.
func (d *drawing) pathStep(values []float64, i int) string {
	op := "L"
	if i == 0 || math.IsNaN(values[i-1]) {
		op = "M"
	}
	return op + formatPixels(d.categoryPosition(i, false)) + " " + formatPixels(d.valueScale.position(values[i]))
}

func (d *drawing) drawArea(k int, values []float64) {
	zero := formatPixels(d.valueScale.position(math.Max(d.valueScale.min, math.Min(0, d.valueScale.max))))
	var path strings.Builder
	first := -1 // of the values without a gap
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if first < 0 {
			first = i
		}
		path.WriteString(d.pathStep(values, i))
		if i+1 == len(values) || math.IsNaN(values[i+1]) {
			fmt.Fprintf(&path, "V%sH%sZ", zero, formatPixels(d.categoryPosition(first, false)))
			first = -1
		}
	}
	fmt.Fprintf(d, `<path %s d="%s"/>`, d.attributes("area", k), path.String())
}

func (d *drawing) drawDots(k int, values []float64) {
	for i, v := range values {
		if !math.IsNaN(v) {
			fmt.Fprintf(d, `<circle %s cx="%s" cy="%s" r="3"/>`, d.attributes("shape", k), formatPixels(d.categoryPosition(i, false)), formatPixels(d.valueScale.position(v)))
		}
	}
}

// maxSlots is how many labels of a line chart have tooltips; there are few pixels for each of
// more. The table has all values.
const maxSlots = 200

// drawSlots draws an invisible mark over the height of the plot for each label, or for every
// nth of many. Its tooltip has the values of all series.
func (d *drawing) drawSlots() {
	n := len(d.chart.data.Labels)
	every := (n + maxSlots - 1) / maxSlots
	for i := 0; i < n; i += every {
		from, to := d.left, d.right
		if x := d.categoryPosition(i, false); n > 1 {
			half := (d.categoryPosition(1, false) - d.categoryPosition(0, false)) * float64(every) / 2
			from, to = math.Max(x-half, d.left), math.Min(x+half, d.right)
		}
		fmt.Fprintf(d, `<rect %s x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`, d.attributes("slot", -1),
			formatPixels(from), formatPixels(d.top), formatPixels(math.Max(to-from, 0)), formatPixels(d.bottom-d.top), escapeText(d.slotText(i)))
	}
}

// slotText returns the values of all series at the ith label.
func (d *drawing) slotText(i int) string {
	var parts []string
	for _, s := range d.chart.data.Series {
		text := "none"
		if !math.IsNaN(s.Values[i]) {
			text = humanize.Number(s.Values[i])
		}
		if !d.hasOneSeries() && s.Name != "" {
			text = s.Name + " " + text
		}
		parts = append(parts, text)
	}
	return d.chart.data.Labels[i] + ": " + strings.Join(parts, ", ")
}
