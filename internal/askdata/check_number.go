package askdata

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
)

// checkNumber validates a number and returns it in the form to be recorded. It
// compares every digit, not only those that a float64 holds.
func (c *checker) checkNumber(f *Field, text string) json.RawMessage {
	value, ok := parseBounded(text)
	if !ok {
		c.violate(rule.Magnitude, "", "")
		return nil
	}
	if f.Type == "integer" {
		whole, isWhole := integerDigits(text)
		switch {
		case !isWhole:
			c.violate(rule.Type, "integer", "number")
		case whole == "":
			c.violate(rule.Int64, "", "")
		default:
			text = whole
		}
	}
	if f.Minimum != nil && compareToBound(text, value, *f.Minimum) < 0 {
		c.violate(rule.Minimum, humanize.Number(*f.Minimum), "")
	}
	if f.Maximum != nil && compareToBound(text, value, *f.Maximum) > 0 {
		c.violate(rule.Maximum, humanize.Number(*f.Maximum), "")
	}
	if f.Step != nil && !new(big.Rat).Quo(parseRat(text), parseRat(humanize.Number(*f.Step))).IsInt() {
		c.violate(rule.MultipleOf, humanize.Number(*f.Step), "")
	}
	return json.RawMessage(text)
}

// parseBounded returns a JSON number as a float64. It reports false if a float64
// can't hold its magnitude, or if it has so many digits that computing with it
// would take too long.
func parseBounded(text string) (float64, bool) {
	if !rawjson.IsOrdinaryNumber(text) {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

// integerDigits returns the plain digits of a whole number such as 4, 4.0 or 4e2,
// or none if an int64 can't hold it. It reports whether the number is whole.
func integerDigits(text string) (digits string, ok bool) {
	if strings.ContainsAny(text, ".eE") {
		n := parseRat(text)
		if !n.IsInt() {
			return "", false
		}
		text = n.Num().String()
	}
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return "", true
	}
	return text, true
}

// compareToBound compares a number with a bound. Comparing floats is exact for up
// to 15 digits.
func compareToBound(text string, value, bound float64) int {
	if len(text) > 15 {
		return parseRat(text).Cmp(parseRat(humanize.Number(bound)))
	}
	switch {
	case value < bound:
		return -1
	case value > bound:
		return 1
	}
	return 0
}

// parseRat parses a number that parseBounded accepts.
func parseRat(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return n
}
