package csv

import (
	"math"
	"strconv"
	"strings"
)

// A numberFormat is a way to write numbers: 1,234.5 or 1.234,5.
type numberFormat struct{ point, group byte }

func decimalPoint() numberFormat { return numberFormat{point: '.', group: ','} }

func decimalComma() numberFormat { return numberFormat{point: ',', group: '.'} }

// maxDigits is the number of digits that a float64 represents exactly. Longer
// numbers, and numbers with leading zeros, are treated as text, such as account
// numbers.
const maxDigits = 15

// exponentNotation stands for the number of decimals of a number with an exponent.
const exponentNotation = -1

// countDecimals reports whether a text is a number without a unit, and returns the
// number of its decimals.
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

// wholePart skips the digits before the decimal point, which may be in groups of
// three. It returns the rest and the number of digits.
func (f numberFormat) wholePart(s string) (rest string, n int, ok bool) {
	n = leadingDigits(s)
	if n > 1 && s[0] == '0' {
		return "", n, false
	}
	rest = s[n:]
	if n > 3 || n == 0 || s[0] == '0' { // 0,123 is no group of thousands
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

// parse parses a cell. ok is false if it isn't a number that a float64 can represent.
func (f numberFormat) parse(cell string) (v float64, decimals int, ok bool) {
	s, _, ok := splitNumber(cell)
	if !ok {
		return 0, 0, false
	}
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

// isNoNumber reports whether a cell is a number in no format.
func isNoNumber(cell string) bool {
	number, _, ok := splitNumber(strings.TrimSpace(cell))
	_, byPoint := decimalPoint().countDecimals(number)
	_, byComma := decimalComma().countDecimals(number)
	return !ok || !byPoint && !byComma
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// leadingDigits returns the number of digits at the beginning of s.
func leadingDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// roundTo rounds v to a number of decimals, which removes the errors of binary
// fractions.
func roundTo(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	if decimals < 0 || math.Abs(v*scale) > 1<<53 {
		return v
	}
	return math.Round(v*scale) / scale
}
