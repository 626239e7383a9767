package ui

import (
	"fmt"
	"math"
	"strings"
)

func (d *drawing) layStanding() {
	widest := 0.0
	for _, t := range d.y.ticks {
		widest = math.Max(widest, textWidth(d.y.label(t)))
	}
	d.left, d.right = math.Ceil(widest)+gap, d.width-2
	d.top, d.bottom = gap, d.height-lineHeight-gap
	if d.v.chart.YTitle != "" {
		d.top += lineHeight + 4
	}
	if d.v.chart.XTitle != "" {
		d.bottom -= lineHeight + 2
	}
	d.y.from, d.y.to = d.bottom, d.top
}

// standingAxes draws the values' axis on the left and the labels below.
func (d *drawing) standingAxes(slots bool) {
	for _, t := range d.y.ticks {
		y := d.y.at(t)
		d.line(gridClass(t), d.left, y, d.right, y)
		d.text("tick", d.left-gap, y+4, "end", d.y.label(t))
	}
	if s := d.v.chart.YTitle; s != "" {
		d.text("axis-title", 0, lineHeight-4, "start", fit(s, d.width))
	}
	if s := d.v.chart.XTitle; s != "" {
		d.text("axis-title", (d.left+d.right)/2, d.height-4, "middle", fit(s, d.right-d.left))
	}
	every := d.every()
	for i := 0; i < len(d.v.chart.Labels); i += every {
		anchor, x := "middle", d.x(i, slots)
		l := fit(d.v.chart.Labels[i], 0.9*float64(every)*math.Max(d.slot(), 30))
		half := textWidth(l) / 2
		if x+half > d.width {
			anchor, x = "end", d.right
		} else if x-half < 0 {
			anchor, x = "start", 0
		}
		d.text("tick", x, d.bottom+lineHeight, anchor, l)
	}
}

// every is how many labels are skipped to the next that is shown.
func (d *drawing) every() int {
	widest := 0.0
	for _, l := range d.v.chart.Labels {
		widest = math.Max(widest, math.Min(textWidth(l), 120))
	}
	return max(1, int(math.Ceil((widest+2*gap)/math.Max(d.slot(), 0.001))))
}

func (d *drawing) slot() float64 {
	return (d.right - d.left) / math.Max(float64(len(d.v.chart.Labels)), 1)
}

// x is where the nth value stands: in the middle of its slot, or, for lines,
// from edge to edge.
func (d *drawing) x(i int, slots bool) float64 {
	if slots || len(d.v.chart.Labels) < 2 {
		return d.left + (float64(i)+0.5)*d.slot()
	}
	const inset = 6
	return d.left + inset + float64(i)*(d.right-d.left-2*inset)/float64(len(d.v.chart.Labels)-1)
}

func (d *drawing) standingBars() {
	slot := d.slot()
	n := float64(len(d.v.chart.Series))
	group := math.Min(slot*0.74, 64*n)
	thick := group / n
	zero := d.y.at(math.Max(d.y.lo, math.Min(0, d.y.hi)))
	for k, s := range d.v.chart.Series {
		for i, v := range s.Values {
			if math.IsNaN(v) {
				continue
			}
			x := d.x(i, true) - group/2 + float64(k)*thick
			y := d.y.at(v)
			d.bar(k, i, x, math.Min(y, zero), math.Max(thick-math.Min(1.5, thick*0.2), 0.5), math.Abs(zero-y))
		}
	}
}

func (d *drawing) lines() {
	for k, s := range d.v.chart.Series {
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
			fmt.Fprintf(&path, "%s%s %s", op, px(d.x(i, false)), px(d.y.at(v)))
			down = true
			alone++
		}
		fmt.Fprintf(d, `<path class="stroke %s" d="%s" fill="none"/>`, seriesClass(k), path.String())
		if alone <= 40 {
			d.dots(k, s.Values)
		}
	}
}

func (d *drawing) dots(k int, values []float64) {
	for i, v := range values {
		if !math.IsNaN(v) {
			fmt.Fprintf(d, `<circle class="shape %s" cx="%s" cy="%s" r="3">`, seriesClass(k), px(d.x(i, false)), px(d.y.at(v)))
			d.tip(k, i)
			d.WriteString("</circle>")
		}
	}
}
