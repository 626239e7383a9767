package ui

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
)

// Sizes of what is drawn, in pixels of the SVG's own.
const (
	charWidth  = 6.6 // of a character of the charts' text, on average
	lineHeight = 16
	gap        = 8
	rowHeight  = 24 // of a lying bar
)

// drawing is an SVG that is being written. Its marks have classes and
// presentation attributes, no styles.
type drawing struct {
	strings.Builder
	v             chartView
	width, height float64
	narrow        bool
	y             scale // of the values
	// the part that holds the marks
	left, top, right, bottom float64
}

// svg draws a chart at a width in pixels.
func (v chartView) svg(title string, width float64, narrow bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		d := &drawing{v: v, width: width, height: math.Round(width * 0.46), narrow: narrow}
		if narrow {
			d.height = math.Round(width * 0.75)
		}
		d.draw(title)
		_, err := io.WriteString(w, d.String())
		return err
	})
}

func (d *drawing) draw(title string) {
	lo, hi := d.v.span()
	bars := d.v.chart.Kind == generators.Bars
	if bars || lo > 0 && lo < hi/2 {
		lo = math.Min(lo, 0)
		hi = math.Max(hi, 0)
	}
	ticks := 5
	if d.narrow {
		ticks = 4
	}
	d.y = newScale(lo, hi, ticks)
	lying := bars && d.lies()
	if lying {
		d.layLying()
	} else {
		d.layStanding()
	}
	d.begin(title)
	switch {
	case lying:
		d.lyingAxes()
		d.lyingBars()
	case bars:
		d.standingAxes(true)
		d.standingBars()
	default:
		d.standingAxes(false)
		d.lines()
	}
	d.WriteString("</svg>")
}

func (d *drawing) begin(title string) {
	id, size := d.v.id, "wide"
	if d.narrow {
		size = "narrow"
	}
	fmt.Fprintf(d, `<svg class="plot %s" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="%s-%s-title %s-%s-about" xmlns="http://www.w3.org/2000/svg">`,
		size, px(d.width), px(d.height), px(d.width), px(d.height), id, size, id, size)
	fmt.Fprintf(d, `<title id="%s-%s-title">%s</title><desc id="%s-%s-about">%s</desc>`,
		id, size, templ.EscapeString(title), id, size, templ.EscapeString(d.v.about()))
}

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

func (d *drawing) single() bool { return len(d.v.chart.Series) == 1 }

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

func (d *drawing) bar(series, i int, x, y, w, h float64) {
	fmt.Fprintf(d, `<rect class="shape %s" x="%s" y="%s" width="%s" height="%s" rx="%s">`,
		seriesClass(series), px(x), px(y), px(w), px(h), px(math.Min(2, math.Min(w, h)/4)))
	d.tip(series, i)
	d.WriteString("</rect>")
}

// tip is what a mark says when it is pointed at.
func (d *drawing) tip(series, i int) {
	s := d.v.chart.Series[series]
	what := d.v.chart.Labels[i]
	if !d.single() && s.Name != "" {
		what += ", " + s.Name
	}
	d.WriteString("<title>" + templ.EscapeString(what+": "+number(s.Values[i])) + "</title>")
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

func (d *drawing) text(class string, x, y float64, anchor, s string) {
	fmt.Fprintf(d, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, px(x), px(y), anchor, templ.EscapeString(s))
}

func seriesClass(k int) string { return "s" + strconv.Itoa(k%colours+1) }

func gridClass(tick float64) string {
	if tick == 0 {
		return "zero"
	}
	return "grid"
}

// px is a length with as many digits as the eye can tell.
func px(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
}

// textWidth is about how wide a text is drawn.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		if r > 0x2e7f { // ideographs and pictures
			w += 2 * charWidth
		} else {
			w += charWidth
		}
	}
	return w
}

// fit cuts a text to a width.
func fit(s string, width float64) string {
	if textWidth(s) <= width {
		return s
	}
	w := 2 * charWidth
	for i, r := range s {
		if w += textWidth(string(r)); w > width+charWidth {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}
