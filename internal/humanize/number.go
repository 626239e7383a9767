package humanize

import (
	"math"
	"strconv"
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
