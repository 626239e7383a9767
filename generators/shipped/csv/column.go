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
// of them have been counted; see resolve. A step records what has a capital letter.
type column struct {
	Name    string
	Example string // the first cell that isn't blank

	Filled, Booleans int // cells
	Numbers          numberCounts
	Dates            dateCounts

	// Set by resolve:
	kind       kind
	format     numberFormat // of numbers
	monthFirst bool         // in dates such as 12/31/2026
}

// numberCounts counts the cells that are numbers, by the formats in which they are.
type numberCounts struct {
	Same                 int // read the same in both formats
	PointOnly, CommaOnly int
	// Either counts cells such as 1,234, which is another number in each format;
	// WithPoint of them have a point.
	Either, WithPoint int
	Example           string // of them
	// Decimals counts the cells that are no whole numbers, as read with a decimal point
	// and with a decimal comma.
	DecimalsByPoint, DecimalsByComma int
	Unit                             string // of the numbers that have one
	WithUnit                         int
	MixedUnits                       bool
}

// dateCounts counts the cells that are dates, by the orders of day and month in which
// they are.
type dateCounts struct {
	Same               int
	DayOnly, MonthOnly int
	Either             int    // another date in each order
	Example            string // of them
	ByDay, ByMonth     dateSpan
}

func (c *column) addCell(cell string) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return
	}
	c.Filled++
	if c.Example == "" {
		c.Example = strings.Clone(humanize.Truncate(cell, maxShownText))
	}
	if number, unit, ok := splitNumber(cell); ok && c.Numbers.add(number, unit) {
		return
	}
	if d, ok := parseDate(cell); ok {
		c.Dates.add(d, cell)
	} else if _, ok := parseBoolean(cell); ok {
		c.Booleans++
	}
}

// add counts a number; it reports whether it is one in some format.
func (n *numberCounts) add(number, unit string) bool {
	byPoint, isPoint := decimalPoint().countDecimals(number)
	byComma, isComma := decimalComma().countDecimals(number)
	switch {
	case isPoint && isComma && byPoint != byComma:
		n.Either++
		if strings.IndexByte(number, '.') >= 0 {
			n.WithPoint++
		}
		if n.Example == "" {
			n.Example = strings.Clone(strings.TrimPrefix(number, "-"))
		}
	case isPoint && isComma:
		n.Same++
	case isPoint:
		n.PointOnly++
	case isComma:
		n.CommaOnly++
	default:
		return false
	}
	if isPoint && byPoint != 0 {
		n.DecimalsByPoint++
	}
	if isComma && byComma != 0 {
		n.DecimalsByComma++
	}
	if unit != "" {
		if n.WithUnit++; n.WithUnit == 1 {
			n.Unit = strings.Clone(unit)
		}
		n.MixedUnits = n.MixedUnits || n.Unit != unit
	}
	return true
}

// count returns the number of cells that are numbers in a format.
func (n *numberCounts) count(f numberFormat) int {
	if f.point == ',' {
		return n.Same + n.Either + n.CommaOnly
	}
	return n.Same + n.Either + n.PointOnly
}

func (d *dateCounts) add(w writtenDate, cell string) {
	byDay, isDay := w.in(false)
	byMonth, isMonth := w.in(true)
	switch {
	case isDay && isMonth && !byDay.Equal(byMonth):
		if d.Either++; d.Either == 1 {
			d.Example = strings.Clone(cell)
		}
	case isDay && isMonth:
		d.Same++
	case isDay:
		d.DayOnly++
	default:
		d.MonthOnly++
	}
	if isDay {
		d.ByDay.add(byDay, w.hasTime)
	}
	if isMonth {
		d.ByMonth.add(byMonth, w.hasTime)
	}
}

// count returns the number of cells that are dates in an order.
func (d *dateCounts) count(monthFirst bool) int {
	if monthFirst {
		return d.Same + d.Either + d.MonthOnly
	}
	return d.Same + d.Either + d.DayOnly
}

// span returns the dates of a column of dates.
func (c *column) span() *dateSpan {
	if c.monthFirst {
		return &c.Dates.ByMonth
	}
	return &c.Dates.ByDay
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
	decimals := c.Numbers.DecimalsByPoint
	if c.format.point == ',' {
		decimals = c.Numbers.DecimalsByComma
	}
	switch isNumeric := c.Numbers.count(c.format)*10 >= c.Filled*9; {
	case c.Filled == 0:
		c.kind = empty
	case isNumeric && c.Numbers.MixedUnits:
	case isNumeric && decimals == 0:
		c.kind = integer
	case isNumeric:
		c.kind = decimal
	case c.Dates.count(c.monthFirst)*10 >= c.Filled*9:
		c.kind = date
	case c.Booleans == c.Filled:
		c.kind = boolean
	}
}

// unit returns the unit of a column of numbers, or "".
func (c *column) unit() string {
	if !c.kind.numeric() {
		return ""
	}
	return c.Numbers.Unit
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
		columns[i].Name = uniqueName(used, name)
		used[columns[i].Name] = true
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
