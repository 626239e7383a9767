package csv

import (
	"fmt"
	"strings"

	"github.com/photon-beam/beam/internal/humanize"
)

// A lineList has the lines of a file on which something is, in ascending order.
type lineList struct {
	First []int // the first maxListedLines
	N     int
	last  int
}

const maxListedLines = 3

func (l *lineList) add(line int) {
	if line == l.last {
		return
	}
	l.last = line
	if l.N++; l.N <= maxListedLines {
		l.First = append(l.First, line)
	}
}

// String returns the numbers as in "Line 3", "Lines 3, 5" and "Lines 3, 5, 9 and 12 more".
func (l *lineList) String() string {
	text := humanize.Plural(l.N, "Line ", "Lines ")
	for i, line := range l.First {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(line)
	}
	if more := l.N - len(l.First); more > 0 {
		text += " and " + humanize.Thousands(more) + " more"
	}
	return text
}

// hasSwallowedRows reports whether a row with a quoted cell that spans lines looks like
// several rows: if each line of the cell has as many cells as a row, or rather the rest of
// one on the first.
func (s *tableInfo) hasSwallowedRows(row []string) bool {
	for i, cell := range row {
		lines := strings.Split(cell, "\n")
		if len(lines) == 1 || len(lines) == 2 && len(row) == s.width() {
			continue // texts of two lines with a delimiter are usual
		}
		count := func(line string) int { return strings.Count(line, string(s.Delimiter)) + 1 }
		rows := count(lines[0]) == s.width()-i && s.width() > 1
		for _, line := range lines[1 : len(lines)-1] {
			rows = rows && count(line) == s.width()
		}
		if rows {
			return true
		}
	}
	return false
}
