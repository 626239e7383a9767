package chart

import (
	"fmt"
	"math"
	"strings"
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

func (d *drawing) drawSeriesLines() {
	for k, s := range d.chart.data.Series {
		var path strings.Builder
		down := false
		alone := 0
		for i, v := range s.Values {
			if math.IsNaN(v) {
				down = false
				continue
			}
			op := "L"
			if !down {
				op = "M"
			}
			fmt.Fprintf(&path, "%s%s %s", op, formatPixels(d.categoryPosition(i, false)), formatPixels(d.valueScale.position(v)))
			down = true
			alone++
		}
		fmt.Fprintf(d, `<path class="stroke %s" d="%s" fill="none"/>`, SeriesClass(k), path.String())
		if alone <= 40 {
			d.drawDots(k, s.Values)
		}
	}
}

func (d *drawing) drawDots(k int, values []float64) {
	for i, v := range values {
		if !math.IsNaN(v) {
			fmt.Fprintf(d, `<circle class="shape %s" cx="%s" cy="%s" r="3">`, SeriesClass(k), formatPixels(d.categoryPosition(i, false)), formatPixels(d.valueScale.position(v)))
			d.drawTooltip(k, i)
			d.WriteString("</circle>")
		}
	}
}
