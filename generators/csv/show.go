package csv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/words"
)

// show tells what the file holds. It returns the warnings among that.
func (s *survey) show(yield generators.Yield, name string) []string {
	yield(generators.Statusf("%s: %s × %s, %s", name, words.Count(s.rows, "row"), words.Count(s.width(), "column"), s.describe()))
	warnings := s.warnings()
	warn(yield, warnings)
	if s.rows > 0 {
		yield(generators.TableOf(fmt.Sprintf("First rows of %s", name), s.preview()))
	}
	yield(generators.TableOf("Columns", s.columnTable()))
	return warnings
}

func warn(yield generators.Yield, warnings []string) {
	for _, w := range warnings {
		yield(generators.StatusAt(generators.Warning, w))
	}
}

// describe says how the file is written.
func (s *survey) describe() string {
	parts := []string{"one column"}
	if s.width() > 1 {
		parts[0] = "separated by " + map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "|"}[s.delimiter]
	}
	parts = append(parts, s.charset.name)
	if s.figures.point == ',' && slices.ContainsFunc(s.columns, func(c column) bool { return c.kind() == decimal }) {
		parts = append(parts, "with decimal commas")
	}
	return strings.Join(parts, ", ")
}

func (s *survey) warnings() []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if s.charset.note != "" {
		add("%s", s.charset.note)
	}
	if s.nameless {
		add("The first row is all numbers, so it is taken as data and the columns are numbered.")
	}
	if !s.nameless && s.names < s.width() {
		add("The first row has %s and most others have %s: the columns without a name are numbered.", words.Count(s.names, "cell"), words.Thousands(s.width()))
	}
	if s.rows == 0 {
		add("There are column names but no rows below them: there is nothing to summarise.")
	}
	if s.ragged > 0 {
		add("%s of %s %s not have %s. Missing cells count as blank, and those beyond the last column are left out.",
			words.Thousands(s.ragged), words.Count(s.rows, "row"), words.Plural(s.ragged, "does", "do"), words.Count(s.width(), "cell"))
	}
	if s.blank > 0 {
		add("%s without any content %s left out.", words.Count(s.blank, "row"), words.Plural(s.blank, "is", "are"))
	}
	if s.width() > len(s.columns) {
		add("Only the first %s are looked at.", words.Count(len(s.columns), "column"))
	}
	return all
}

func (s *survey) preview() generators.Table {
	width := min(len(s.columns), shownColumns)
	t := generators.Table{Rows: [][]any{}}
	for _, c := range s.columns[:width] {
		t.Columns = append(t.Columns, c.name)
	}
	for _, row := range s.first {
		cells := make([]any, width)
		for i := range min(width, len(row)) {
			cells[i] = row[i]
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func (s *survey) columnTable() generators.Table {
	t := generators.Table{Columns: []string{"Column", "Type", "Filled", "Blank", "Example"}}
	for _, c := range s.columns {
		t.Rows = append(t.Rows, []any{c.name, c.kind().String(), c.filled(), s.rows - c.filled(), c.example})
	}
	return t
}
