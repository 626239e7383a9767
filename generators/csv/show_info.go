package csv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// showInfo yields a description of the file, warnings about it, its first rows and
// its columns. It returns the warnings.
func (s *tableInfo) showInfo(yield generators.Yield, name string) []string {
	yield(generators.Statusf("%s: %s × %s, %s", name, humanize.Count(s.rows, "row"), humanize.Count(s.width(), "column"), s.describe()))
	warnings := s.warnings()
	yieldWarnings(yield, warnings)
	yield(generators.TableOf(fmt.Sprintf("First rows of %s", name), s.preview()))
	yield(generators.TableOf("Columns", s.columnTable()))
	return warnings
}

func yieldWarnings(yield generators.Yield, warnings []string) {
	for _, w := range warnings {
		yield(generators.StatusAt(generators.Warning, w))
	}
}

// describe describes the file's format.
func (s *tableInfo) describe() string {
	parts := []string{"one column"}
	if s.width() > 1 {
		parts[0] = "separated by " + map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "|"}[s.delimiter]
	}
	parts = append(parts, s.charset.name)
	if slices.ContainsFunc(s.columns, func(c column) bool { return c.kind == decimal && c.format.point == ',' }) {
		parts = append(parts, "with decimal commas")
	}
	return strings.Join(parts, ", ")
}

func (s *tableInfo) warnings() []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if s.charset.note != "" {
		add("%s", s.charset.note)
	}
	if s.noHeader {
		add("The first row has only numbers. It is treated as data, and the columns are numbered.")
	}
	if !s.noHeader && s.headerCells < s.width() {
		add("The first row has %s, but most others have %s. The columns without a name are numbered.", humanize.Count(s.headerCells, "cell"), humanize.Thousands(s.width()))
	}
	if s.raggedRows > 0 {
		add("%s of %s %s have %s. Missing cells count as blank, and extra cells are ignored.",
			humanize.Thousands(s.raggedRows), humanize.Count(s.rows, "row"), humanize.Plural(s.raggedRows, "doesn't", "don't"), humanize.Count(s.width(), "cell"))
	}
	if s.blankRows > 0 {
		add("%s %s ignored.", humanize.Count(s.blankRows, "blank row"), humanize.Plural(s.blankRows, "is", "are"))
	}
	for i := range s.columns {
		if c := &s.columns[i]; c.numbers.mixedUnits && c.kind == text {
			add("%s has amounts in several units, which can't be added up. It is treated as text.", c.name)
		}
	}
	if s.width() > len(s.columns) {
		add("Only the first %s are analyzed.", humanize.Count(len(s.columns), "column"))
	}
	return all
}

func (s *tableInfo) preview() generators.Table {
	width := min(len(s.columns), maxShownColumns)
	t := generators.Table{Rows: [][]any{}}
	for _, c := range s.columns[:width] {
		t.Columns = append(t.Columns, c.name)
	}
	for _, row := range s.firstRows {
		cells := make([]any, width)
		for i := range min(width, len(row)) {
			cells[i] = row[i]
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func (s *tableInfo) columnTable() generators.Table {
	t := generators.Table{Columns: []string{"Column", "Type", "Filled", "Blank", "Example"}}
	for _, c := range s.columns {
		t.Rows = append(t.Rows, []any{c.name, c.typeName(), c.filled, s.rows - c.filled, c.example})
	}
	return t
}
