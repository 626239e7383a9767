package chart

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// Sizes in the SVG's own pixels.
const (
	charWidth  = 6.9 // average width of a character
	lineHeight = 16
	plotGap    = 8
	rowHeight  = 24 // of a horizontal bar
)

// A drawing writes a chart as SVG. It uses classes and presentation attributes,
// no styles.
type drawing struct {
	strings.Builder
	chart         Chart
	size          Size
	width, height float64
	valueScale    axisScale // of the values
	alone         bool      // as a document of its own
	title         string    // of such a document
	// The plot area.
	left, top, right, bottom float64
}

// A Size is how large a chart is drawn. The stylesheet shows the one that there is room for.
type Size struct {
	class         string
	width, height float64
	ticks         int // of the value axis, at most
}

// Sizes are all sizes, from the narrowest.
var Sizes = []Size{{"narrow", 310, 232, 4}, {"medium", 600, 276, 5}, {"wide", 1040, 374, 5}}

// SVG returns the chart as SVG.
func (c Chart) SVG(title string, s Size) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		d := &drawing{chart: c, size: s, width: s.width, height: s.height}
		d.draw(title)
		_, err := io.WriteString(w, d.String())
		return err
	})
}

func (d *drawing) draw(title string) {
	lo, hi := d.chart.valueRange()
	lo, hi = clampValue(lo), clampValue(hi)
	bars := d.chart.data.Kind == generators.Bars || d.chart.data.Kind == generators.Histogram
	if bars || d.chart.data.Kind == generators.Areas || lo > 0 && lo < hi/2 {
		lo = math.Min(lo, 0)
		hi = math.Max(hi, 0)
	}
	d.valueScale = newScale(lo, hi, d.size.ticks)
	horizontal := bars && d.hasHorizontalBars()
	if horizontal {
		d.layOutHorizontal()
	} else {
		d.layOutVertical()
	}
	if d.alone {
		d.openPicture()
	} else {
		d.openSVG(title)
	}
	switch {
	case horizontal:
		d.drawHorizontalAxes()
		d.drawHorizontalBars()
	case bars:
		d.drawVerticalAxes(true)
		d.drawVerticalBars()
	default:
		d.drawVerticalAxes(false)
		d.drawSeriesLines()
		d.drawSlots()
	}
	if d.alone {
		d.WriteString("</g></g>")
	}
	d.WriteString("</svg>")
}

func (d *drawing) openSVG(title string) {
	id, size := d.chart.id, d.size.class
	fmt.Fprintf(d, `<svg class="plot %s" viewBox="0 0 %s %s" width="%s" height="%s" role="img" tabindex="0" aria-labelledby="%s-%s-title %s-%s-about" xmlns="http://www.w3.org/2000/svg">`,
		size, formatPixels(d.width), formatPixels(d.height), formatPixels(d.width), formatPixels(d.height), id, size, id, size)
	fmt.Fprintf(d, `<title id="%s-%s-title">%s</title><desc id="%s-%s-about">%s</desc>`,
		id, size, escapeText(title), id, size, escapeText(d.chart.description()))
}

func (d *drawing) hasOneSeries() bool { return len(d.chart.data.Series) == 1 }

func (d *drawing) drawBar(series, i int, x, y, w, h float64) {
	fmt.Fprintf(d, `<rect %s x="%s" y="%s" width="%s" height="%s" rx="%s">`,
		d.attributes("shape", series), formatPixels(x), formatPixels(y), formatPixels(w), formatPixels(h), formatPixels(math.Min(2, math.Min(w, h)/4)))
	d.drawTooltip(series, i)
	d.WriteString("</rect>")
}

// drawTooltip writes the tooltip of a mark.
func (d *drawing) drawTooltip(series, i int) {
	s := d.chart.data.Series[series]
	text := d.chart.data.Labels[i]
	if !d.hasOneSeries() && s.Name != "" {
		text += ", " + s.Name
	}
	d.WriteString("<title>" + escapeText(text+": "+humanize.Number(s.Values[i])) + "</title>")
}

func (d *drawing) drawLine(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<line %s x1="%s" y1="%s" x2="%s" y2="%s"/>`, d.attributes(class, -1), formatPixels(x1), formatPixels(y1), formatPixels(x2), formatPixels(y2))
}

func (d *drawing) drawText(class string, x, y float64, anchor, s string) {
	fmt.Fprintf(d, `<text %s x="%s" y="%s" text-anchor="%s">%s</text>`, d.attributes(class, -1), formatPixels(x), formatPixels(y), anchor, escapeText(s))
}

// escapeText returns a text for an element, without the characters that XML can't have.
func escapeText(s string) string {
	return templ.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// SeriesClass returns the class of the kth series, which the stylesheet colors.
func SeriesClass(k int) string { return "s" + strconv.Itoa(k%seriesColors+1) }

func gridClass(tick float64) string {
	if tick == 0 {
		return "zero"
	}
	return "grid"
}

// formatPixels formats a length to a tenth of a pixel.
func formatPixels(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
}

// textWidth estimates the width of a text.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		if r > 0x2e7f { // ideographs and emoji
			w += 2 * charWidth
		} else {
			w += charWidth
		}
	}
	return w
}

// truncateToWidth cuts a text to about a width.
func truncateToWidth(s string, width float64) string {
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
