package chart

import (
	"math"

	"github.com/photon-beam/beam/generators"
)

// hasHorizontalBars reports whether the bars are horizontal, which makes room for long
// labels.
func (d *drawing) hasHorizontalBars() bool {
	n := len(d.chart.data.Labels)
	if d.chart.data.Kind == generators.Histogram {
		return false // its labels are numbers, in order
	}
	if n == 0 || n > 40 {
		return false
	}
	slot := (d.width - 50) / float64(n)
	for _, l := range d.chart.data.Labels {
		if textWidth(l)+plotGap > slot {
			return true
		}
	}
	return false
}

func (d *drawing) layOutHorizontal() {
	widest := 0.0
	for _, l := range d.chart.data.Labels {
		widest = math.Max(widest, textWidth(l))
	}
	d.left = math.Ceil(math.Min(widest, d.width*0.36)) + plotGap
	d.right = d.width - 14
	if d.hasOneSeries() {
		d.right = d.width - 44
	}
	d.top = plotGap
	rows := float64(len(d.chart.data.Labels))
	each := float64(rowHeight)
	if n := len(d.chart.data.Series); n > 1 {
		each = float64(n)*12 + 10
	}
	d.bottom = d.top + rows*each
	d.height = d.bottom + lineHeight + plotGap
	if d.chart.data.YTitle != "" {
		d.height += lineHeight + 2
	}
	d.valueScale.from, d.valueScale.to = d.left, d.right
}

// drawHorizontalAxes draws the labels on the left and the value axis below.
func (d *drawing) drawHorizontalAxes() {
	for _, t := range d.valueScale.ticks {
		x := d.valueScale.position(t)
		d.drawLine(gridClass(t), x, d.top, x, d.bottom)
		d.drawText("tick", x, d.bottom+lineHeight, "middle", d.valueScale.tickLabel(t))
	}
	if s := d.chart.data.YTitle; s != "" {
		d.drawText("axis-title", (d.left+d.right)/2, d.height-4, "middle", truncateToWidth(s, d.right-d.left))
	}
	each := (d.bottom - d.top) / float64(len(d.chart.data.Labels))
	for i, l := range d.chart.data.Labels {
		d.drawText("label", d.left-plotGap, d.top+(float64(i)+0.5)*each+4, "end", truncateToWidth(l, d.left-plotGap))
	}
}

func (d *drawing) drawHorizontalBars() {
	each := (d.bottom - d.top) / float64(len(d.chart.data.Labels))
	n := float64(len(d.chart.data.Series))
	thick := math.Min((each-8)/n, 18)
	zero := d.valueScale.position(math.Max(d.valueScale.min, math.Min(0, d.valueScale.max)))
	for k, s := range d.chart.data.Series {
		for i, v := range s.Values {
			if math.IsNaN(v) {
				continue
			}
			y := d.top + (float64(i)+0.5)*each - n*thick/2 + float64(k)*thick
			x := d.valueScale.position(v)
			d.drawBar(k, i, math.Min(x, zero), y, math.Abs(x-zero), math.Max(thick-1.5, 1))
			if d.hasOneSeries() && v >= 0 {
				d.drawText("amount", x+5, y+thick/2+3.5, "start", compactNumber(v))
			}
		}
	}
}
