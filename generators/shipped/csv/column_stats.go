package csv

import (
	"math"
	"time"
)

// A columnStats accumulates statistics of a column's cells.
type columnStats struct {
	filled, numbers, dates int
	sum, compensation      float64 // compensation is the rounding error of sum
	low, high              float64
	earliest, latest       time.Time
	hasTime                bool // some date has a time of day
	decimals               int  // the maximum of the numbers, or exponentNotation
}

// addCell adds a cell of a column. Only dates count in a column of dates, a yes as 1 and
// a no as 0 in one of booleans, and only numbers in any other.
func (t *columnStats) addCell(cell string, c *column) {
	if cell == "" {
		return
	}
	t.filled++
	switch c.kind {
	case date:
		if w, ok := parseDate(cell); ok {
			if d, ok := w.in(c.monthFirst); ok {
				t.addDate(d, w.hasTime)
			}
		}
	case boolean:
		yes, _ := parseBoolean(cell)
		t.addNumber(map[bool]float64{true: 1}[yes], 0)
	default:
		if c.kind == text && c.Numbers.MixedUnits {
			return // amounts that can't be added
		}
		if v, decimals, ok := c.format.parse(cell); ok {
			t.addNumber(v, decimals)
		}
	}
}

func (t *columnStats) addNumber(v float64, decimals int) {
	if t.numbers++; t.numbers == 1 {
		t.low, t.high = v, v
	}
	t.low, t.high = min(t.low, v), max(t.high, v)
	t.addDecimals(decimals)
	t.addToSum(v)
}

func (t *columnStats) addDecimals(decimals int) {
	if decimals == exponentNotation || t.decimals == exponentNotation {
		t.decimals = exponentNotation
	} else {
		t.decimals = max(t.decimals, decimals)
	}
}

// addToSum adds v by Neumaier's algorithm, so that rounding errors don't
// accumulate.
func (t *columnStats) addToSum(v float64) {
	sum := t.sum + v
	if math.Abs(t.sum) >= math.Abs(v) {
		t.compensation += (t.sum - sum) + v
	} else {
		t.compensation += (v - sum) + t.sum
	}
	t.sum = sum
}

func (t *columnStats) addDate(d time.Time, hasTime bool) {
	if t.dates++; t.dates == 1 || d.Before(t.earliest) {
		t.earliest = d
	}
	if d.After(t.latest) {
		t.latest = d
	}
	t.hasTime = t.hasTime || hasTime
}

// merge adds the cells of o.
func (t *columnStats) merge(o *columnStats) {
	t.filled += o.filled
	if o.numbers > 0 {
		if t.numbers == 0 {
			t.low, t.high = o.low, o.high
		}
		t.low, t.high = min(t.low, o.low), max(t.high, o.high)
		t.numbers += o.numbers
		t.addDecimals(o.decimals)
		t.addToSum(o.sum)
		t.compensation += o.compensation
	}
	if o.dates > 0 {
		n := t.dates
		t.addDate(o.earliest, o.hasTime)
		t.addDate(o.latest, o.hasTime)
		t.dates = n + o.dates
	}
}

// countUsed returns the number of cells that a summary takes into account.
func (t *columnStats) countUsed(summary string) int {
	if summary == "min" || summary == "max" {
		return t.numbers + t.dates
	}
	return t.numbers
}

// value returns the summary: a number, a date as a string, or nil if there is none.
func (t *columnStats) value(summary string) any {
	switch {
	case summary == "count":
		return t.filled
	case summary == "min" && t.dates > 0:
		return exact.label(t.earliest, t.hasTime)
	case summary == "max" && t.dates > 0:
		return exact.label(t.latest, t.hasTime)
	case t.numbers == 0:
		return nil
	case summary == "min":
		return t.low
	case summary == "max":
		return t.high
	}
	total := t.sum + t.compensation
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return nil // out of range
	}
	if summary == "sum" {
		return roundTo(total, t.decimals)
	}
	if t.decimals == exponentNotation {
		return total / float64(t.numbers)
	}
	return roundTo(total/float64(t.numbers), t.decimals+6)
}
