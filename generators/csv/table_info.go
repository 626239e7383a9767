package csv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/encoding"

	"github.com/photon-beam/beam/internal/humanize"
)

const (
	maxShownRows    = 10
	maxShownColumns = 50
	maxShownText    = 200 // of a cell, in characters
)

// A tableInfo describes a file's content.
type tableInfo struct {
	layout
	columns     []column // the first maxColumns
	headerRead  bool     // the column names have been read, or there are none
	headerCells int      // number of cells in the row of column names
	rows        int
	blankRows   int        // not included in rows
	raggedRows  int        // rows with more or fewer cells than there are columns
	firstRows   [][]string // for the preview
}

// scanFile reads the whole file and describes it.
func (f *file) scanFile() (*tableInfo, error) {
	head, whole, err := f.readSample()
	if err != nil {
		return nil, err
	}
	l, err := detectLayout(head, whole)
	if err != nil {
		return nil, err
	}
	s, err := f.scanWith(l)
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		l.charset = l.charset.fallback(head)
		s, err = f.scanWith(l)
	}
	return s, err
}

func (f *file) scanWith(l layout) (*tableInfo, error) {
	s := &tableInfo{layout: l}
	if l.noHeader {
		s.columns, s.headerRead = newColumns(nil, l.cells), true
	}
	var err error
	s.blankRows, err = f.eachRecord(l, "Reading the rows", func(record []string) {
		if !s.headerRead {
			s.columns, s.headerRead, s.headerCells = newColumns(record, l.cells), true, len(record)
			return
		}
		s.addRow(record)
	})
	return s, err
}

// width returns the number of columns.
func (s *tableInfo) width() int { return s.cells }

func (s *tableInfo) addRow(row []string) {
	s.rows++
	if len(row) != s.width() {
		s.raggedRows++
	}
	if len(s.firstRows) < maxShownRows {
		s.firstRows = append(s.firstRows, copyShown(row))
	}
	for i := range s.columns[:min(len(row), len(s.columns))] {
		s.columns[i].addCell(row[i])
	}
}

// columnNames returns the names of the analyzed columns.
func (s *tableInfo) columnNames() []string {
	names := make([]string, len(s.columns))
	for i := range s.columns {
		names[i] = s.columns[i].name
	}
	return names
}

// hasDates reports whether a column has dates.
func (s *tableInfo) hasDates() bool {
	return slices.ContainsFunc(s.columns, func(c column) bool { return c.kind == date })
}

// columnIndex returns the index of the column with a name.
func (s *tableInfo) columnIndex(name string) (int, error) {
	i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return 0, fmt.Errorf("there is no column %q", name)
	}
	return i, nil
}

// copyShown returns a copy of the part of a row that is shown. The reader reuses the
// memory of row.
func copyShown(row []string) []string {
	row = slices.Clone(row[:min(len(row), maxShownColumns)])
	for i := range row {
		row[i] = strings.Clone(humanize.Truncate(row[i], maxShownText))
	}
	return row
}
