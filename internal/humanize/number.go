package humanize

import (
	"math"
	"strconv"
	"strings"
)

// Number formats f with as many digits as it needs. It uses an exponent only
// where the plain form would be a long row of zeros.
func Number(f float64) string {
	format := byte('f')
	if size := math.Abs(f); size > 1e21 || size > 0 && size < 1e-6 {
		format = 'g'
	}
	return strconv.FormatFloat(f, format, -1, 64)
}

// Grouped formats a number for reading, with commas between thousands: "-1,234.5".
func Grouped(f float64) string {
	text := Number(f)
	whole := strings.IndexFunc(text, func(r rune) bool { return r == '.' || r == 'e' })
	if whole < 0 {
		whole = len(text)
	}
	for i := whole - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
