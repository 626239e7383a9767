package csv

import (
	"math"
	"strings"
)

// A columnStats accumulates statistics of a column's cells.
type columnStats struct {
	filled, numbers, dates int
	sum, compensation      float64 // compensation is the rounding error of sum
	low, high              float64
	earliest, latest       string // dates
	decimals               int    // the maximum of the numbers, or exponentNotation
}

// addCell adds a cell of a column of kind k. Only dates count in a column of dates,
// and only numbers in any other.
func (t *columnStats) addCell(cell string, k kind, f numberFormat) {
	if cell == "" {
		return
	}
	t.filled++
	if k == date {
		t.addDate(cell)
		return
	}
	v, decimals, ok := f.parse(cell)
	if !ok {
		return
	}
	if t.numbers++; t.numbers == 1 {
		t.low, t.high = v, v
	}
	t.low, t.high = min(t.low, v), max(t.high, v)
	if decimals == exponentNotation || t.decimals == exponentNotation {
		t.decimals = exponentNotation
	} else {
		t.decimals = max(t.decimals, decimals)
	}
	t.addToSum(v)
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

func (t *columnStats) addDate(cell string) {
	if !isDate(cell) {
		return
	}
	if t.dates++; t.dates == 1 || cell < t.earliest {
		t.earliest = strings.Clone(cell)
	}
	if cell > t.latest {
		t.latest = strings.Clone(cell)
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
		return t.earliest
	case summary == "max" && t.dates > 0:
		return t.latest
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
