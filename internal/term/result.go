package term

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term/render"
)

// RenderResult returns a run's result for a person at a terminal.
func RenderResult(t *Terminal, f *runlog.Finished) string {
	r := &render.Renderer{Style: render.Styles(t.Color), Width: max(t.Width(), 10)}
	var text string
	isText := json.Unmarshal(f.Result, &text) == nil
	switch {
	case string(f.Result) == "null":
		return ""
	case isText && f.MediaType == generators.MarkdownType:
		text = r.Markdown(cleantext.Text(text))
	case isText:
		text = cleantext.Text(text)
	default:
		text = r.JSON(f.Result)
	}
	return strings.TrimRight(text, "\n") + "\n"
}

// Table returns rows, of which the first is the heading, as a table for the standard
// output: fitted to a terminal, and whole for a program.
func Table(t *Terminal, rows [][]string) string {
	r := &render.Renderer{Style: render.Styles(t.Color && t.outTTY), Width: 1 << 20}
	if t.outTTY {
		r.Width = t.Width()
	}
	clean := make([][]string, len(rows))
	for i := range rows {
		clean[i] = render.CleanCells(rows[i])
	}
	return r.Grid(clean, make([]bool, len(rows[0])))
}
