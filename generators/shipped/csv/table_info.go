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

// A tableInfo describes a file's content. A step records it.
type tableInfo struct {
	layout
	Columns     []column // the first maxColumns
	headerRead  bool     // the column names have been read, or there are none
	HeaderCells int      // number of cells in the row of column names
	Rows        int
	BlankRows   int        // not included in Rows
	RaggedRows  int        // rows with more or fewer cells than there are columns
	FirstRows   [][]string // for the preview
	StrayQuotes lineList
	Swallowing  lineList // see hasSwallowedRows
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
		l.Charset = l.Charset.fallback(head)
		s, err = f.scanWith(l)
	}
	return s, err
}

func (f *file) scanWith(l layout) (*tableInfo, error) {
	s := &tableInfo{layout: l}
	if l.NoHeader {
		s.Columns, s.headerRead = newColumns(nil, l.Cells), true
	}
	r, err := f.eachRecord(l, "Reading the rows", func(r *recordReader, record []string) {
		if !s.headerRead {
			s.Columns, s.headerRead, s.HeaderCells = newColumns(record, l.Cells), true, len(record)
			return
		}
		s.addRow(record)
		if r.lines > 1 && s.hasSwallowedRows(record) {
			s.Swallowing.add(r.line)
		}
	})
	if err == nil {
		s.BlankRows, s.StrayQuotes = r.blankRecords, r.stray
	}
	return s, err
}

// width returns the number of columns.
func (s *tableInfo) width() int { return s.Cells }

func (s *tableInfo) addRow(row []string) {
	s.Rows++
	if len(row) != s.width() {
		s.RaggedRows++
	}
	if len(s.FirstRows) < maxShownRows {
		s.FirstRows = append(s.FirstRows, copyShown(row))
	}
	for i := range s.Columns[:min(len(row), len(s.Columns))] {
		s.Columns[i].addCell(row[i])
	}
}

// columnNames returns the names of the analyzed columns.
func (s *tableInfo) columnNames() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// hasDates reports whether a column has dates.
func (s *tableInfo) hasDates() bool {
	return slices.ContainsFunc(s.Columns, func(c column) bool { return c.kind == date })
}

// columnIndex returns the index of the column with a name.
func (s *tableInfo) columnIndex(name string) (int, error) {
	i := slices.IndexFunc(s.Columns, func(c column) bool { return c.Name == name })
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
