package ui

import "math"

// lies tells whether the bars lie, so that their labels can be read.
func (d *drawing) lies() bool {
	n := len(d.v.chart.Labels)
	if n == 0 || n > 40 {
		return false
	}
	slot := (d.width - 50) / float64(n)
	for _, l := range d.v.chart.Labels {
		if textWidth(l)+gap > slot {
			return true
		}
	}
	return false
}

func (d *drawing) layLying() {
	widest := 0.0
	for _, l := range d.v.chart.Labels {
		widest = math.Max(widest, textWidth(l))
	}
	d.left = math.Ceil(math.Min(widest, d.width*0.36)) + gap
	d.right = d.width - 14
	if d.single() {
		d.right = d.width - 44
	}
	d.top = gap
	rows := float64(len(d.v.chart.Labels))
	each := float64(rowHeight)
	if n := len(d.v.chart.Series); n > 1 {
		each = float64(n)*12 + 10
	}
	d.bottom = d.top + rows*each
	d.height = d.bottom + lineHeight + gap
	if d.v.chart.YTitle != "" {
		d.height += lineHeight + 2
	}
	d.y.from, d.y.to = d.left, d.right
}

// lyingAxes draws the labels on the left and the values' axis below.
func (d *drawing) lyingAxes() {
	for _, t := range d.y.ticks {
		x := d.y.at(t)
		d.line(gridClass(t), x, d.top, x, d.bottom)
		d.text("tick", x, d.bottom+lineHeight, "middle", d.y.label(t))
	}
	if s := d.v.chart.YTitle; s != "" {
		d.text("axis-title", (d.left+d.right)/2, d.height-4, "middle", fit(s, d.right-d.left))
	}
	each := (d.bottom - d.top) / float64(len(d.v.chart.Labels))
	for i, l := range d.v.chart.Labels {
		d.text("label", d.left-gap, d.top+(float64(i)+0.5)*each+4, "end", fit(l, d.left-gap))
	}
}

func (d *drawing) lyingBars() {
	each := (d.bottom - d.top) / float64(len(d.v.chart.Labels))
	n := float64(len(d.v.chart.Series))
	thick := math.Min((each-8)/n, 18)
	zero := d.y.at(math.Max(d.y.lo, math.Min(0, d.y.hi)))
	for k, s := range d.v.chart.Series {
		for i, v := range s.Values {
			if math.IsNaN(v) {
				continue
			}
			y := d.top + (float64(i)+0.5)*each - n*thick/2 + float64(k)*thick
			x := d.y.at(v)
			d.bar(k, i, math.Min(x, zero), y, math.Abs(x-zero), math.Max(thick-1.5, 1))
			if d.single() && v >= 0 {
				d.text("amount", x+5, y+thick/2+3.5, "start", short(v))
			}
		}
	}
}
