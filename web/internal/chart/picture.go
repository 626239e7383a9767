package chart

import (
	"fmt"
	"strings"
)

// Picture returns the chart as an SVG document of its own, in light colors: it has
// presentation attributes where [Chart.SVG] has classes.
func (c Chart) Picture(title string) string {
	d := &drawing{chart: c, size: Sizes[len(Sizes)-1], alone: true, title: title}
	d.width, d.height = d.size.width, d.size.height
	d.draw(title)
	return d.String()
}

// pictureAttributes are the presentation attributes of a picture's classes.
var pictureAttributes = map[string]string{
	"tick": `fill="#6b645c"`, "axis-title": `fill="#6b645c"`, "label": `fill="#4c463f"`, "amount": `fill="#4c463f"`, "legend": `fill="#4c463f"`,
	"grid": `stroke="#e4ded5"`, "zero": `stroke="#b9b1a6"`, "stroke": `stroke-width="2" stroke-linejoin="round" stroke-linecap="round"`,
	"heading": `fill="#1d1a17" font-weight="600" font-size="15"`, "paper": `fill="#ffffff"`, "slot": `fill="none"`,
}

// pictureColors are the colors of a picture's series, those of the stylesheet.
var pictureColors = [seriesColors]string{"#c77d00", "#2f5d8a", "#3b7d5c", "#8d4a78", "#6a6b71", "#a8442f"}

// attributes returns the attributes of an element of a class. Series counts from 0; it is -1
// for what belongs to none.
func (d *drawing) attributes(class string, series int) string {
	if !d.alone {
		if series >= 0 {
			class += " " + SeriesClass(series)
		}
		return `class="` + class + `"`
	}
	parts := []string{}
	if a := pictureAttributes[class]; a != "" {
		parts = append(parts, a)
	}
	if series >= 0 {
		color := pictureColors[series%seriesColors]
		switch class {
		case "stroke":
			parts = append(parts, `stroke="`+color+`"`)
		case "area":
			parts = append(parts, `fill="`+color+`" fill-opacity="0.25"`)
		default:
			parts = append(parts, `fill="`+color+`"`)
		}
	}
	return strings.Join(parts, " ")
}

// Heights of what a picture has above its plot.
const (
	headingHeight = 30
	legendHeight  = 24
	margin        = 16
)

// openPicture begins a document with a heading and a legend, and moves what follows below
// them. It ends with two elements to close.
func (d *drawing) openPicture() {
	top := float64(headingHeight)
	if len(d.chart.data.Series) > 1 {
		top += legendHeight
	}
	width, height := formatPixels(d.width+2*margin), formatPixels(d.height+top+2*margin)
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" font-family="system-ui, sans-serif" font-size="12.5">`, width, height, width, height)
	fmt.Fprintf(d, `<rect %s width="%s" height="%s"/><g transform="translate(%d %d)">`, d.attributes("paper", -1), width, height, margin, margin)
	d.drawText("heading", 0, 15, "start", truncateToWidth(d.title, d.width*0.8))
	if len(d.chart.data.Series) > 1 {
		d.drawLegend()
	}
	fmt.Fprintf(d, `<g transform="translate(0 %s)">`, formatPixels(top))
}

// drawLegend draws a legend on one line, as far as there is room.
func (d *drawing) drawLegend() {
	x := 0.0
	for k, s := range d.chart.data.Series {
		name := truncateToWidth(s.Name, 180)
		if name == "" {
			name = "Series"
		}
		if x+textWidth(name)+20 > d.width {
			d.drawText("legend", x, headingHeight+14, "start", "…")
			return
		}
		fmt.Fprintf(d, `<rect %s x="%s" y="%d" width="9" height="9" rx="2"/>`, d.attributes("shape", k), formatPixels(x), headingHeight+5)
		d.drawText("legend", x+14, headingHeight+14, "start", name)
		x += textWidth(name) + 34
	}
}
