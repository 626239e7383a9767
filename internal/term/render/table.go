package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
)

// columnGap separates the columns of a table.
const columnGap = "  "

// minColumn is the narrowest a column of a table gets. A table whose columns would be
// narrower is shown as one record after another.
const minColumn = 8

// table returns a table in columns that fit the width.
func (r *Renderer) table(t generators.Table) string {
	rows := make([][]string, 0, len(t.Rows)+1)
	rows = append(rows, CleanCells(t.Columns))
	numeric := make([]bool, len(t.Columns))
	for i := range numeric {
		numeric[i] = len(t.Rows) > 0
	}
	for _, row := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i := range cells {
			if i >= len(row) || row[i] == nil {
				continue
			}
			if _, ok := row[i].(json.Number); !ok {
				numeric[i] = false
			}
			cells[i] = cleantext.Line(fmt.Sprint(row[i]))
		}
		rows = append(rows, cells)
	}
	return r.Grid(rows, numeric)
}

func CleanCells(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = cleantext.Line(text)
	}
	return out
}

// Grid lays out rows, of which the first is the heading.
func (r *Renderer) Grid(rows [][]string, right []bool) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	if !fitColumns(widths, r.Width) {
		return r.records(rows)
	}
	var b strings.Builder
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = ansi.Truncate(cell, widths[i], "…")
			space := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if right[i] {
				cell = space + cell
			} else {
				cell += space
			}
			if i > 0 {
				line.WriteString(columnGap)
			}
			line.WriteString(cell)
		}
		text := strings.TrimRight(line.String(), " ")
		if n == 0 {
			text = r.Style.Paint(Bold, text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// fitColumns narrows the widest columns until all fit into width. It reports false if
// they can't.
func fitColumns(widths []int, width int) bool {
	total := len(columnGap) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if len(widths) == 0 || widths[widest] <= minColumn {
			return false
		}
		widths[widest]--
	}
	return true
}

// records returns the rows one below the other, each value with its column's name.
func (r *Renderer) records(rows [][]string) string {
	var b strings.Builder
	for n, row := range rows[1:] {
		if n > 0 {
			b.WriteByte('\n')
		}
		for i, cell := range row {
			b.WriteString(Wrap(r.Style.Paint(Bold, rows[0][i]+":")+" "+cell, r.Width) + "\n")
		}
	}
	return b.String()
}
