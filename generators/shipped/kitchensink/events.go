package kitchensink

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/photon-beam/beam/generators"
)

// Events returns events of every kind, the same in every run. The tests of all surfaces
// use them.
func Events() []generators.Event {
	var all []generators.Event
	for _, part := range [][]generators.Event{statuses(), progress(), logs(), chunks(), artifacts()} {
		all = append(all, part...)
	}
	return all
}

func statuses() []generators.Event {
	return []generators.Event{
		generators.Status("This status informs."),
		generators.StatusAt(generators.Success, "This one reports a success."),
		generators.StatusAt(generators.Warning, "This one warns."),
		generators.StatusAt(generators.Error, "This one reports an error. The run continues."),
		generators.Toast(generators.Info, "This is a toast."),
	}
}

func progress() []generators.Event {
	all := []generators.Event{generators.Busy("counting the work")}
	for done := range 6 {
		all = append(all, generators.Progress(float64(done), 5, fmt.Sprintf("%d of 5", done)))
	}
	return all
}

// logs returns a line for each of MCP's levels, with and without the name of a logger.
func logs() []generators.Event {
	all := []generators.Event{generators.Log(generators.Info, "a plain line without a logger's name")}
	for i, level := range []generators.Level{
		generators.Debug, generators.Info, generators.Notice, generators.Warning,
		generators.Error, generators.Critical, generators.Alert, generators.Emergency,
	} {
		all = append(all, generators.LogTo("kitchen.sink", level, map[string]any{
			"message": "a line of level " + string(level), "line": i + 1, "tags": []string{"shown", "structured"},
		}))
	}
	return all
}

func chunks() []generators.Event {
	var all []generators.Event
	for _, piece := range []string{"A text ", "may come ", "in pieces, ", "one after ", "the other:\n", "ünïcödé ✓ ", "as well."} {
		all = append(all, generators.Chunk(piece))
	}
	return all
}

func artifacts() []generators.Event {
	return []generators.Event{
		generators.Markdown("A document", document),
		generators.Code("A program", "go", program),
		generators.JSON("A value", map[string]any{"name": "beam", "kinds": []string{"text", "form"}, "nested": map[string]any{"deep": true, "none": nil}}),
		generators.TableOf("A table", generators.Table{
			Columns: []string{"Planet", "Moons", "Day in hours", "Rings"},
			Rows:    [][]any{{"Earth", 1, 23.9, false}, {"Mars", 2, 24.6, false}, {"Saturn", 274, 10.7, true}, {"Elsewhere", nil, nil, nil}},
		}),
		generators.Image("A picture", "image/png", drawPNG()),
		generators.ChartOf("Bars", generators.Chart{
			Kind: generators.Bars, XTitle: "Planet", YTitle: "Moons",
			Labels: []string{"Earth", "Mars", "Neptune"}, Series: []generators.Series{{Name: "Moons", Values: []float64{1, 2, 16}}},
		}),
		generators.ChartOf("Lines", generators.Chart{
			Kind: generators.Lines, XTitle: "Month", YTitle: "°C", Labels: []string{"Jan", "Apr", "Jul", "Oct"},
			Series: []generators.Series{{Name: "Day", Values: []float64{2.5, 13, 24.5, 14}}, {Name: "Night", Values: []float64{-3, 3.5, 13, 6}}},
		}),
		generators.ChartOf("Areas", generators.Chart{
			Kind: generators.Areas, XTitle: "Hour", YTitle: "Visitors", Labels: []string{"9", "10", "11", "12", "13"},
			Series: []generators.Series{{Name: "Visitors", Values: []float64{12, 40, 35, 60, 22}}},
		}),
		generators.ChartOf("Histogram", generators.Chart{
			Kind: generators.Histogram, XTitle: "Milliseconds", YTitle: "Requests",
			Series: []generators.Series{{Name: "Requests", Values: []float64{3, 4, 4.5, 5, 6, 6, 7, 7.5, 8, 9, 11, 12, 19}}},
		}),
		generators.File("notes.txt", "text/plain", []byte("This file is for download.\n")),
	}
}

const document = `# A document

With *emphasis*, **strength**, ` + "`code`" + `, a [link](https://example.com/) and a list:

- one
- two

| left | right |
|------|------:|
| a    |     1 |

> And a quotation.
`

const program = `package main

import "fmt"

func main() {
	fmt.Println("hello, world")
}
`

// drawPNG draws a PNG of 96 by 64 pixels: a disc on a gradient.
func drawPNG() []byte {
	const width, height, radius = 96, 64, 20
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{R: uint8(255 * x / width), G: uint8(255 * y / height), B: 160, A: 255}
			if dx, dy := x-width/2, y-height/2; dx*dx+dy*dy <= radius*radius {
				c = color.RGBA{R: 255, G: 220, B: 80, A: 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(fmt.Sprintf("drawing in memory: %v", err)) // can't fail for an image of this size
	}
	return b.Bytes()
}
