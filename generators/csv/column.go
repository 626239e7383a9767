package csv

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/photon-beam/beam/internal/humanize"
)

// A kind is the type of a column.
type kind int

const (
	empty kind = iota
	integer
	decimal
	date
	boolean
	text
)

func (k kind) numeric() bool { return k == integer || k == decimal }

// A column describes a column of the file. What its cells mean is only known once all
// of them have been counted; see resolve.
type column struct {
	name    string
	example string // the first cell that isn't blank

	filled, booleans int // cells
	numbers          numberCounts
	dates            dateCounts

	// Set by resolve:
	kind       kind
	format     numberFormat // of numbers
	monthFirst bool         // in dates such as 12/31/2026
}

// numberCounts counts the cells that are numbers, by the formats in which they are.
type numberCounts struct {
	same                 int // read the same in both formats
	pointOnly, commaOnly int
	// either counts cells such as 1,234, which is another number in each format;
	// withPoint of them have a point.
	either, withPoint int
	example           string // of them
	// decimals counts the cells that are no whole numbers, as read with a decimal point
	// and with a decimal comma.
	decimalsByPoint, decimalsByComma int
	unit                             string // of the numbers that have one
	withUnit                         int
	mixedUnits                       bool
}

// dateCounts counts the cells that are dates, by the orders of day and month in which
// they are.
type dateCounts struct {
	same               int
	dayOnly, monthOnly int
	either             int    // another date in each order
	example            string // of them
	byDay, byMonth     dateSpan
}

func (c *column) addCell(cell string) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return
	}
	c.filled++
	if c.example == "" {
		c.example = strings.Clone(humanize.Truncate(cell, maxShownText))
	}
	if number, unit, ok := splitNumber(cell); ok && c.numbers.add(number, unit) {
		return
	}
	if d, ok := parseDate(cell); ok {
		c.dates.add(d, cell)
	} else if _, ok := parseBoolean(cell); ok {
		c.booleans++
	}
}

// add counts a number; it reports whether it is one in some format.
func (n *numberCounts) add(number, unit string) bool {
	byPoint, isPoint := decimalPoint().countDecimals(number)
	byComma, isComma := decimalComma().countDecimals(number)
	switch {
	case isPoint && isComma && byPoint != byComma:
		n.either++
		if strings.IndexByte(number, '.') >= 0 {
			n.withPoint++
		}
		if n.example == "" {
			n.example = strings.Clone(strings.TrimPrefix(number, "-"))
		}
	case isPoint && isComma:
		n.same++
	case isPoint:
		n.pointOnly++
	case isComma:
		n.commaOnly++
	default:
		return false
	}
	if isPoint && byPoint != 0 {
		n.decimalsByPoint++
	}
	if isComma && byComma != 0 {
		n.decimalsByComma++
	}
	if unit != "" {
		if n.withUnit++; n.withUnit == 1 {
			n.unit = strings.Clone(unit)
		}
		n.mixedUnits = n.mixedUnits || n.unit != unit
	}
	return true
}

// count returns the number of cells that are numbers in a format.
func (n *numberCounts) count(f numberFormat) int {
	if f.point == ',' {
		return n.same + n.either + n.commaOnly
	}
	return n.same + n.either + n.pointOnly
}

func (d *dateCounts) add(w writtenDate, cell string) {
	byDay, isDay := w.in(false)
	byMonth, isMonth := w.in(true)
	switch {
	case isDay && isMonth && !byDay.Equal(byMonth):
		if d.either++; d.either == 1 {
			d.example = strings.Clone(cell)
		}
	case isDay && isMonth:
		d.same++
	case isDay:
		d.dayOnly++
	default:
		d.monthOnly++
	}
	if isDay {
		d.byDay.add(byDay, w.hasTime)
	}
	if isMonth {
		d.byMonth.add(byMonth, w.hasTime)
	}
}

// count returns the number of cells that are dates in an order.
func (d *dateCounts) count(monthFirst bool) int {
	if monthFirst {
		return d.same + d.either + d.monthOnly
	}
	return d.same + d.either + d.dayOnly
}

// span returns the dates of a column of dates.
func (c *column) span() *dateSpan {
	if c.monthFirst {
		return &c.dates.byMonth
	}
	return &c.dates.byDay
}

// parseBoolean parses the words for yes and no.
func parseBoolean(cell string) (yes, ok bool) {
	if len(cell) > 5 {
		return false, false
	}
	for _, word := range [...]string{"true", "yes", "y", "t"} {
		if strings.EqualFold(cell, word) {
			return true, true
		}
	}
	for _, word := range [...]string{"false", "no", "n", "f"} {
		if strings.EqualFold(cell, word) {
			return false, true
		}
	}
	return false, false
}

// resolve sets the column's kind, once its format and its order of day and month are
// known: the kind of at least 90% of the filled cells, so that an "n/a" among numbers
// doesn't make the column text. A column is boolean only if all of its filled cells
// are. Amounts in several currencies are text, because they can't be added.
func (c *column) resolve() {
	c.kind = text
	decimals := c.numbers.decimalsByPoint
	if c.format.point == ',' {
		decimals = c.numbers.decimalsByComma
	}
	switch isNumeric := c.numbers.count(c.format)*10 >= c.filled*9; {
	case c.filled == 0:
		c.kind = empty
	case isNumeric && c.numbers.mixedUnits:
	case isNumeric && decimals == 0:
		c.kind = integer
	case isNumeric:
		c.kind = decimal
	case c.dates.count(c.monthFirst)*10 >= c.filled*9:
		c.kind = date
	case c.booleans == c.filled:
		c.kind = boolean
	}
}

// unit returns the unit of a column of numbers, or "".
func (c *column) unit() string {
	if !c.kind.numeric() {
		return ""
	}
	return c.numbers.unit
}

// typeName returns the column's type for people.
func (c *column) typeName() string {
	switch unit := c.unit(); {
	case unit == "%":
		return "percentage"
	case unit != "":
		return "amount in " + unit
	}
	return [...]string{"empty", "whole number", "number", "date", "yes or no", "text"}[c.kind]
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
