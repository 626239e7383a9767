package csv

import (
	"math"
	"strconv"
	"strings"
)

// numberFormat is how a file writes its numbers: 1,234.5 or 1.234,5.
type numberFormat struct{ point, group byte }

func decimalPoint() numberFormat { return numberFormat{point: '.', group: ','} }

func decimalComma() numberFormat { return numberFormat{point: ',', group: '.'} }

// detectNumberFormat decides by the numbers that are only one or the other. Without any,
// a semicolon speaks for the decimal comma: that is why it divides the cells.
func detectNumberFormat(delimiter rune, records [][]string) numberFormat {
	var points, commas int
	for _, record := range records {
		for _, cell := range record {
			cell = strings.TrimSpace(cell)
			_, asPoint := decimalPoint().countDecimals(cell)
			_, asComma := decimalComma().countDecimals(cell)
			if asPoint && !asComma {
				points++
			}
			if asComma && !asPoint {
				commas++
			}
		}
	}
	if commas > points || commas == points && delimiter == ';' {
		return decimalComma()
	}
	return decimalPoint()
}

// maxDigits are as many as a float64 keeps. Longer numbers are names, such as
// those of accounts, and so are those with leading zeros.
const maxDigits = 15

// exponentNotation is the count of decimals of a number with an exponent.
const exponentNotation = -1

// countDecimals tells whether a cell is a number, and how many digits come after its
// point.
func (f numberFormat) countDecimals(s string) (n int, ok bool) {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 40 || s[0] != f.point && !isDigit(s[0]) {
		return 0, false
	}
	s, whole, ok := f.wholePart(s)
	if !ok || whole > maxDigits {
		return 0, false
	}
	if len(s) > 0 && s[0] == f.point {
		n = leadingDigits(s[1:])
		if s = s[1+n:]; n == 0 {
			return 0, false
		}
	}
	if whole+n == 0 {
		return 0, false
	}
	if len(s) > 1 && (s[0] == 'e' || s[0] == 'E') {
		s, n = s[1:], exponentNotation
		if s[0] == '-' || s[0] == '+' {
			s = s[1:]
		}
		return n, len(s) > 0 && len(s) == leadingDigits(s)
	}
	return n, len(s) == 0
}

// wholePart skips the digits before the point, which may stand in groups of
// three. It returns what comes after, and how many digits there were.
func (f numberFormat) wholePart(s string) (rest string, n int, ok bool) {
	n = leadingDigits(s)
	if n > 1 && s[0] == '0' {
		return "", n, false
	}
	rest = s[n:]
	if n > 3 || n == 0 {
		return rest, n, true
	}
	for len(rest) > 0 && rest[0] == f.group {
		if leadingDigits(rest[1:]) != 3 {
			return "", n, false
		}
		rest, n = rest[4:], n+3
	}
	return rest, n, true
}

// parse reads a number. Those that a float64 can't hold are none.
func (f numberFormat) parse(s string) (v float64, decimals int, ok bool) {
	if decimals, ok = f.countDecimals(s); !ok {
		return 0, 0, false
	}
	if strings.IndexByte(s, f.group) >= 0 {
		s = strings.ReplaceAll(s, string(f.group), "")
	}
	if f.point != '.' {
		s = strings.Replace(s, string(f.point), ".", 1)
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, decimals, err == nil && !math.IsInf(v, 0)
}

// allNumbers tells whether every cell of a record is a number.
func (f numberFormat) allNumbers(record []string) bool {
	for _, cell := range record {
		if _, ok := f.countDecimals(strings.TrimSpace(cell)); !ok {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// leadingDigits counts the digits that a text begins with.
func leadingDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// isDate tells whether a cell begins with a date as in ISO 8601: 2026-12-31,
// perhaps with a time. Such texts are in the order of time.
func isDate(s string) bool {
	if len(s) < 10 || len(s) > 40 || s[4] != '-' || s[7] != '-' || leadingDigits(s) != 4 || leadingDigits(s[5:7]) != 2 || leadingDigits(s[8:10]) != 2 {
		return false
	}
	if len(s) > 10 && s[10] != 'T' && s[10] != ' ' {
		return false
	}
	month, day := s[5:7], s[8:10]
	return month >= "01" && month <= "12" && day >= "01" && day <= "31"
}

// roundTo takes away what adding binary fractions put after the last decimal.
func roundTo(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	if decimals < 0 || math.Abs(v*scale) > 1<<53 {
		return v
	}
	return math.Round(v*scale) / scale
}
