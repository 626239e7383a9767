package csv

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/photon-beam/beam/internal/humanize"
)

// A kind is the type of a cell or a column.
type kind int

const (
	empty kind = iota
	integer
	decimal
	date
	boolean
	text
)

func (k kind) String() string {
	return [...]string{"empty", "whole number", "number", "date", "yes or no", "text"}[k]
}

func (k kind) numeric() bool { return k == integer || k == decimal }

// A column describes a column of the file.
type column struct {
	name    string
	example string        // the first cell that isn't blank
	counts  [text + 1]int // of cells, by kind
}

func (c *column) addCell(cell string, f numberFormat) {
	cell = strings.TrimSpace(cell)
	k := kindOf(cell, f)
	c.counts[k]++
	if c.example == "" && cell != "" {
		c.example = strings.Clone(humanize.Truncate(cell, maxShownText))
	}
}

func kindOf(cell string, f numberFormat) kind {
	if cell == "" {
		return empty
	}
	if n, ok := f.countDecimals(cell); ok {
		if n == 0 {
			return integer
		}
		return decimal
	}
	switch {
	case isDate(cell):
		return date
	case len(cell) <= 5 && isBoolean(cell):
		return boolean
	}
	return text
}

func isBoolean(cell string) bool {
	for _, word := range [...]string{"true", "false", "yes", "no"} {
		if strings.EqualFold(cell, word) {
			return true
		}
	}
	return false
}

// filled returns the number of cells that aren't blank.
func (c *column) filled() int {
	n := 0
	for _, count := range c.counts[integer:] {
		n += count
	}
	return n
}

// kind returns the kind of at least 90% of the filled cells, so that an "n/a" among
// numbers doesn't make the column text. A column is boolean only if all of its
// filled cells are.
func (c *column) kind() kind {
	filled := c.filled()
	switch numbers := c.counts[integer] + c.counts[decimal]; {
	case filled == 0:
		return empty
	case numbers*10 >= filled*9 && c.counts[decimal] == 0:
		return integer
	case numbers*10 >= filled*9:
		return decimal
	case c.counts[date]*10 >= filled*9:
		return date
	case c.counts[boolean] == filled:
		return boolean
	}
	return text
}

// maxName bounds a column's name, in characters, because the question lists all
// names.
const maxName = 60

// newColumns returns columns with unique names: the cells of the header, or
// numbers where the header is blank or too short.
func newColumns(header []string, cells int) []column {
	columns := make([]column, min(cells, maxColumns))
	used := make(map[string]bool, len(columns))
	for i := range columns {
		name := ""
		if i < len(header) {
			name = displayName(header[i])
		}
		if name == "" {
			name = fmt.Sprintf("column %d", i+1)
		}
		columns[i].name = uniqueName(used, name)
		used[columns[i].name] = true
	}
	return columns
}

// displayName returns a name on one line, without invisible characters.
func displayName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, name)
	return humanize.Truncate(strings.Join(strings.Fields(name), " "), maxName)
}

// uniqueName appends a number to a name that is already used.
func uniqueName(used map[string]bool, name string) string {
	numbered := name
	for n := 2; used[numbered]; n++ {
		numbered = fmt.Sprintf("%s (%d)", name, n)
	}
	return numbered
}
