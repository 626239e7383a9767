package csv

import (
	"math"
	"strings"
)

// A tally takes in the cells of a column, one after the other.
type tally struct {
	filled, numbers, dates int
	sum, rest              float64 // the rest is what the sum lost in rounding
	low, high              float64
	first, last            string // dates
	decimals               int    // the most that a number had, or exponential
}

// take adds a cell. In a column of dates only those count, in others only
// numbers.
func (t *tally) take(cell string, k kind, f figures) {
	if cell == "" {
		return
	}
	t.filled++
	if k == date {
		t.takeDate(cell)
		return
	}
	v, decimals, ok := f.value(cell)
	if !ok {
		return
	}
	if t.numbers++; t.numbers == 1 {
		t.low, t.high = v, v
	}
	t.low, t.high = min(t.low, v), max(t.high, v)
	if decimals == exponential || t.decimals == exponential {
		t.decimals = exponential
	} else {
		t.decimals = max(t.decimals, decimals)
	}
	t.add(v)
}

// add is Neumaier's: a million small amounts are as exact as one.
func (t *tally) add(v float64) {
	sum := t.sum + v
	if math.Abs(t.sum) >= math.Abs(v) {
		t.rest += (t.sum - sum) + v
	} else {
		t.rest += (v - sum) + t.sum
	}
	t.sum = sum
}

func (t *tally) takeDate(cell string) {
	if !isDate(cell) {
		return
	}
	if t.dates++; t.dates == 1 || cell < t.first {
		t.first = strings.Clone(cell)
	}
	if cell > t.last {
		t.last = strings.Clone(cell)
	}
}

// used counts the cells that a summary is made of.
func (t *tally) used(summary string) int {
	if summary == "min" || summary == "max" {
		return t.numbers + t.dates
	}
	return t.numbers
}

// value is a number, a date or nil.
func (t *tally) value(summary string) any {
	switch {
	case summary == "count":
		return t.filled
	case summary == "min" && t.dates > 0:
		return t.first
	case summary == "max" && t.dates > 0:
		return t.last
	case t.numbers == 0:
		return nil
	case summary == "min":
		return t.low
	case summary == "max":
		return t.high
	}
	total := t.sum + t.rest
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return nil // beyond what a number can hold
	}
	if summary == "sum" {
		return round(total, t.decimals)
	}
	if t.decimals == exponential {
		return total / float64(t.numbers)
	}
	return round(total/float64(t.numbers), t.decimals+6)
}
