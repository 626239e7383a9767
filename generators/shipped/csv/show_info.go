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
	yield(generators.Statusf("%s: %s × %s, %s", name, humanize.Count(s.Rows, "row"), humanize.Count(s.width(), "column"), s.describe()))
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
		parts[0] = "separated by " + map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "|"}[s.Delimiter]
	}
	parts = append(parts, s.Charset.Name)
	if slices.ContainsFunc(s.Columns, func(c column) bool { return c.kind == decimal && c.format.point == ',' }) {
		parts = append(parts, "with decimal commas")
	}
	return strings.Join(parts, ", ")
}

func (s *tableInfo) warnings() []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if s.Charset.Note != "" {
		add("%s", s.Charset.Note)
	}
	if s.NoHeader {
		add("The first row has only numbers. It is treated as data, and the columns are numbered.")
	}
	if !s.NoHeader && s.HeaderCells < s.width() {
		add("The first row has %s, but most others have %s. The columns without a name are numbered.", humanize.Count(s.HeaderCells, "cell"), humanize.Thousands(s.width()))
	}
	if n := s.StrayQuotes.N; n > 0 {
		add(`%s %s an opening quote (") without a closing one. It is read as part of its cell, and the cell as if it weren't quoted.`, &s.StrayQuotes, humanize.Plural(n, "has", "have"))
	}
	if n := s.Swallowing.N; n > 0 {
		add(`%s %s a quoted cell whose lines look like rows of their own. They aren't counted as rows: if they are some, a quote (") is missing or stray.`, &s.Swallowing, humanize.Plural(n, "begins", "begin"))
	}
	if s.RaggedRows > 0 {
		add("%s of %s %s have %s. Missing cells count as blank, and extra cells are ignored.",
			humanize.Thousands(s.RaggedRows), humanize.Count(s.Rows, "row"), humanize.Plural(s.RaggedRows, "doesn't", "don't"), humanize.Count(s.width(), "cell"))
	}
	if s.BlankRows > 0 {
		add("%s %s ignored.", humanize.Count(s.BlankRows, "blank row"), humanize.Plural(s.BlankRows, "is", "are"))
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Numbers.MixedUnits && c.kind == text {
			add("%s has amounts in several units, which can't be added up. It is treated as text.", c.Name)
		}
	}
	if s.width() > len(s.Columns) {
		add("Only the first %s are analyzed.", humanize.Count(len(s.Columns), "column"))
	}
	return all
}

func (s *tableInfo) preview() generators.Table {
	width := min(len(s.Columns), maxShownColumns)
	t := generators.Table{Rows: [][]any{}}
	for _, c := range s.Columns[:width] {
		t.Columns = append(t.Columns, c.Name)
	}
	for _, row := range s.FirstRows {
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
	for _, c := range s.Columns {
		t.Rows = append(t.Rows, []any{c.Name, c.typeName(), c.Filled, s.Rows - c.Filled, c.Example})
	}
	return t
}
