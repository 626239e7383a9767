package csv

import (
	"strings"
	"unicode"
)

// splitNumber removes from a cell what may surround a number: a currency before or after
// it, a percent sign, the brackets of a negative amount, and the spaces or apostrophes
// between thousands. ok is false if the rest can't be a number.
func splitNumber(cell string) (number, unit string, ok bool) {
	if isPlain(cell) {
		return cell, "", true
	}
	if len(cell) > 60 || !strings.ContainsAny(cell, "0123456789") {
		return "", "", false
	}
	s, signs := cell, 0
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		s, signs = strings.TrimSpace(s[1:len(s)-1]), 1
	}
	s, minus := cutMinus(s)
	signs += minus
	if s, unit, ok = cutUnit(s); !ok {
		return "", "", false
	}
	s, minus = cutMinus(s)
	if signs += minus; signs > 1 {
		return "", "", false
	}
	if s, ok = joinThousands(s); !ok || s == "" || s[0] == '-' || s[0] == '+' && signs > 0 {
		return "", "", false
	}
	if signs > 0 {
		s = "-" + s
	}
	return s, unit, true
}

// isPlain reports whether a cell consists of the characters of a number alone.
func isPlain(cell string) bool {
	if cell == "" || len(cell) > 40 || !isDigit(cell[len(cell)-1]) {
		return false
	}
	for i := range len(cell) {
		if c := cell[i]; !isDigit(c) && c != '.' && c != ',' && (c != '-' && c != '+' || i > 0) && (c|0x20 != 'e' && c != '-' && c != '+' || i == 0) {
			return false
		}
	}
	return true
}

// cutMinus removes a minus before or after a number.
func cutMinus(s string) (rest string, signs int) {
	for _, minus := range [...]string{"-", "\u2212"} {
		if before, found := strings.CutPrefix(s, minus); found {
			return strings.TrimSpace(before), 1
		}
		if after, found := strings.CutSuffix(s, minus); found {
			return strings.TrimSpace(after), 1
		}
	}
	return s, 0
}

// cutUnit removes a unit before or after a number.
func cutUnit(s string) (rest, unit string, ok bool) {
	isNumeric := func(r rune) bool { return r >= '0' && r <= '9' || strings.ContainsRune(".,+-\u2212", r) }
	first := strings.IndexFunc(s, isNumeric)
	last := strings.LastIndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' || r == ',' || r == '-' })
	if first < 0 || last < first {
		return s, "", false
	}
	before, after := strings.TrimFunc(s[:first], unicode.IsSpace), strings.TrimFunc(s[last+1:], unicode.IsSpace)
	switch {
	case before == "" && after == "":
		return s, "", true
	case before != "" && after != "" || !isCurrency[before+after] && after != "%":
		return s, "", false
	}
	return s[first : last+1], before + after, true
}

// isCurrency has the symbols and the common codes of currencies.
var isCurrency = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields("$ € £ ¥ ₹ ₽ ₩ ₺ ₴ ₪ ₫ ₱ ₦ ฿ zł Kč kr Ft lei R$ US$ A$ C$ NZ$ HK$ S$ Fr Rs " +
		"USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK ISK PLN CZK HUF RON BGN TRY RUB UAH ILS ZAR BRL MXN ARS CLP COP KRW SGD HKD TWD THB MYR IDR PHP VND AED SAR EGP NGN KES") {
		all[name] = true
	}
	return all
}()

// joinThousands removes the spaces or apostrophes between groups of three digits.
func joinThousands(s string) (string, bool) {
	const separators = " '\u00a0\u202f\u2009\u2019"
	if !strings.ContainsAny(s, separators) {
		return s, true
	}
	groups := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(separators, r) })
	for i, g := range groups {
		digits := leadingDigits(g)
		whole := digits == len(g)
		switch {
		case i == 0 && (digits > 3 || !whole || g[0] == '0'),
			i > 0 && digits != 3,
			i < len(groups)-1 && !whole:
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}
