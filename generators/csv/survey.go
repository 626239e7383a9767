package csv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
)

const (
	shownRows    = 10
	shownColumns = 50
	shownText    = 200 // of a cell, in characters
)

// A survey is what a file holds.
type survey struct {
	layout
	columns []column // the first maxColumns
	named   bool     // the row of names has been read, or there is none
	names   int      // cells of the row of names
	rows    int
	blank   int        // records without content, which are no rows
	ragged  int        // rows with more or fewer cells than there are columns
	first   [][]string // rows, to be shown
}

// survey reads all of the file.
func (f *file) survey() (*survey, error) {
	head, whole, err := f.sample()
	if err != nil {
		return nil, err
	}
	l, err := sniff(head, whole)
	if err != nil {
		return nil, err
	}
	s, err := f.surveyAs(l)
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		l.charset = l.charset.fallback(head)
		s, err = f.surveyAs(l)
	}
	return s, err
}

func (f *file) surveyAs(l layout) (*survey, error) {
	s := &survey{layout: l}
	if l.nameless {
		s.columns, s.named = columnsOf(nil, l.cells), true
	}
	var err error
	s.blank, err = f.each(l, "looking at the rows", func(record []string) {
		if !s.named {
			s.columns, s.named, s.names = columnsOf(record, l.cells), true, len(record)
			return
		}
		s.take(record)
	})
	return s, err
}

// width is the number of the file's columns.
func (s *survey) width() int { return s.cells }

func (s *survey) take(row []string) {
	s.rows++
	if len(row) != s.width() {
		s.ragged++
	}
	if len(s.first) < shownRows {
		s.first = append(s.first, excerpt(row))
	}
	for i := range s.columns[:min(len(row), len(s.columns))] {
		s.columns[i].take(row[i], s.figures)
	}
}

// place returns which column has that name.
func (s *survey) place(name string) (int, error) {
	i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return 0, fmt.Errorf("there is no column %q", name)
	}
	return i, nil
}

// excerpt copies a row, since the reader uses its memory again, as far as it is
// shown.
func excerpt(row []string) []string {
	row = slices.Clone(row[:min(len(row), shownColumns)])
	for i := range row {
		row[i] = strings.Clone(clip(row[i], shownText))
	}
	return row
}

// clip cuts a text to so many characters and says so by an ellipsis.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
