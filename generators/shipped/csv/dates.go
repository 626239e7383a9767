package csv

import (
	"strings"
	"time"
)

// A writtenDate is what a cell that is written as a date may mean. 3/4/2026 is in
// April if the day comes first, and in March if the month does.
type writtenDate struct {
	dayFirst, monthFirst time.Time // zero if the cell can't be read like that
	hasTime              bool
}

// in returns the date as read in one of the orders; ok is false if it can't be.
func (d writtenDate) in(monthFirst bool) (t time.Time, ok bool) {
	t = d.dayFirst
	if monthFirst {
		t = d.monthFirst
	}
	return t, !t.IsZero()
}

// parseDate parses a date, possibly followed by a time, in one of the common
// notations: 2026-12-31, 2026/12/31, 31.12.2026, 31/12/2026, 12/31/2026, the same with
// two digits for the year, 31 Dec 2026, December 31, 2026, and 2026-12 or Dec 2026 for a
// month. A time zone is ignored.
func parseDate(cell string) (d writtenDate, ok bool) {
	if len(cell) < 6 || len(cell) > 40 || !strings.ContainsAny(cell, "0123456789") {
		return d, false
	}
	s := dateScanner{rest: cell}
	s.skipWeekday()
	var y, m, day int
	swapped := false // whether m and day may be the other way round
	switch {
	case s.rest == "":
		return d, false
	case !isDigit(s.rest[0]):
		y, m, day, ok = s.monthFirstByName()
	case leadingDigits(s.rest) == 4:
		y, m, day, ok = s.yearFirst()
	default:
		y, m, day, swapped, ok = s.yearLast()
	}
	if !ok {
		return d, false
	}
	clock, hasTime, ok := s.clock()
	if !ok {
		return d, false
	}
	d.hasTime = hasTime
	d.dayFirst = dateOf(y, m, day, clock)
	if d.monthFirst = d.dayFirst; swapped {
		d.monthFirst = dateOf(y, day, m, clock)
	}
	return d, !d.dayFirst.IsZero() || !d.monthFirst.IsZero()
}

// dateOf returns the zero time if there is no such day.
func dateOf(y, m, day int, clock time.Duration) time.Time {
	t := time.Date(y, time.Month(m), day, 0, 0, 0, 0, time.UTC)
	if t.Year() != y || int(t.Month()) != m || t.Day() != day || y < 1 {
		return time.Time{}
	}
	return t.Add(clock)
}

// A dateScanner reads a date from the beginning of rest.
type dateScanner struct{ rest string }

// number reads a number of so many digits.
func (s *dateScanner) number(least, most int) (n int, ok bool) {
	count := leadingDigits(s.rest)
	if count < least || count > most {
		return 0, false
	}
	for _, c := range s.rest[:count] {
		n = n*10 + int(c-'0')
	}
	s.rest = s.rest[count:]
	return n, true
}

// skip skips the first byte if it is one of those in any, and returns it.
func (s *dateScanner) skip(any string) byte {
	if s.rest == "" || strings.IndexByte(any, s.rest[0]) < 0 {
		return 0
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	return c
}

func (s *dateScanner) skipAll(any string) { s.rest = strings.TrimLeft(s.rest, any) }

// word reads ASCII letters.
func (s *dateScanner) word() string {
	n := 0
	for n < len(s.rest) && (s.rest[n]|0x20 >= 'a' && s.rest[n]|0x20 <= 'z') {
		n++
	}
	word := s.rest[:n]
	s.rest = s.rest[n:]
	return word
}

func (s *dateScanner) skipWeekday() {
	rest := s.rest
	if n := indexOfName(s.word(), weekdays); n == 0 || len(s.rest) == len(rest) {
		s.rest = rest
		return
	}
	s.skipAll("., ")
}

// year reads a year of four digits, or of two, which are in 1970 to 2069.
func (s *dateScanner) year() (int, bool) {
	if leadingDigits(s.rest) == 2 {
		n, _ := s.number(2, 2)
		if n < 70 {
			return 2000 + n, true
		}
		return 1900 + n, true
	}
	return s.number(4, 4)
}

// yearFirst reads 2026-12-31, 2026/12/31, 2026.12.31, or 2026-12.
func (s *dateScanner) yearFirst() (y, m, day int, ok bool) {
	y, _ = s.number(4, 4)
	separator := s.skip("-/.")
	if separator == 0 {
		return 0, 0, 0, false
	}
	if m, ok = s.number(1, 2); !ok {
		return 0, 0, 0, false
	}
	if s.rest == "" && separator != '.' {
		return y, m, 1, true
	}
	if s.skip(string(separator)) == 0 {
		return 0, 0, 0, false
	}
	day, ok = s.number(1, 2)
	return y, m, day, ok
}

// yearLast reads 31.12.2026, 31/12/2026, 12/31/2026 or 31 Dec 2026. swapped reports
// whether day and m may be the other way round.
func (s *dateScanner) yearLast() (y, m, day int, swapped, ok bool) {
	if day, ok = s.number(1, 2); !ok {
		return 0, 0, 0, false, false
	}
	if separator := s.skip("/-."); separator != 0 && s.rest != "" && isDigit(s.rest[0]) {
		if m, ok = s.number(1, 2); !ok || s.skip(string(separator)) == 0 {
			return 0, 0, 0, false, false
		}
		y, ok = s.year()
		return y, m, day, separator != '.', ok
	}
	s.skipOrdinal()
	s.skipAll(" -./")
	if m = indexOfName(s.word(), months); m == 0 {
		return 0, 0, 0, false, false
	}
	s.skipAll(" -./,")
	y, ok = s.year()
	return y, m, day, false, ok
}

// monthFirstByName reads Dec 31, 2026 or Dec 2026.
func (s *dateScanner) monthFirstByName() (y, m, day int, ok bool) {
	if m = indexOfName(s.word(), months); m == 0 {
		return 0, 0, 0, false
	}
	s.skipAll(" -./,")
	if leadingDigits(s.rest) == 4 {
		y, ok = s.year()
		return y, m, 1, ok
	}
	if day, ok = s.number(1, 2); !ok {
		return 0, 0, 0, false
	}
	s.skipOrdinal()
	if s.skip(" -./,") == 0 {
		return 0, 0, 0, false
	}
	s.skipAll(" ")
	y, ok = s.year()
	return y, m, day, ok
}

// skipOrdinal skips the ending of 1st, 2nd, 3rd or 4th.
func (s *dateScanner) skipOrdinal() {
	for _, ending := range [...]string{"st", "nd", "rd", "th"} {
		if rest, found := strings.CutPrefix(s.rest, ending); found {
			s.rest = rest
			return
		}
	}
}

// clock reads the time of day, which may be missing, to the end of the cell.
func (s *dateScanner) clock() (of time.Duration, hasTime, ok bool) {
	if s.rest == "" {
		return 0, false, true
	}
	if s.skip("T ,") == 0 {
		return 0, false, false
	}
	s.skipAll(" ")
	h, ok := s.number(1, 2)
	if !ok || s.skip(":") == 0 {
		return 0, false, false
	}
	minute, ok := s.number(2, 2)
	if !ok {
		return 0, false, false
	}
	second := 0
	if s.skip(":") != 0 {
		if second, ok = s.number(2, 2); !ok {
			return 0, false, false
		}
		if s.skip(".,") != 0 {
			s.skipAll("0123456789")
		}
	}
	h, ok = s.halfOfDay(h)
	if !ok || h > 23 || minute > 59 || second > 60 || !s.zone() {
		return 0, false, false
	}
	return time.Duration(h)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second, true, true
}

// halfOfDay reads AM or PM, which may be missing, and returns the hour of the day.
func (s *dateScanner) halfOfDay(h int) (int, bool) {
	rest := strings.TrimLeft(s.rest, " \u202f")
	if len(rest) < 2 || rest[1]|0x20 != 'm' || rest[0]|0x20 != 'a' && rest[0]|0x20 != 'p' {
		return h, true
	}
	s.rest = rest[2:]
	if h < 1 || h > 12 {
		return 0, false
	}
	h %= 12
	if rest[0]|0x20 == 'p' {
		h += 12
	}
	return h, true
}

// zone reads a time zone, which may be missing, to the end of the cell.
func (s *dateScanner) zone() bool {
	s.skipAll(" ")
	if s.rest == "" || s.rest == "Z" || s.rest == "UTC" || s.rest == "GMT" {
		return true
	}
	if s.skip("+-") == 0 {
		return false
	}
	digits := strings.Replace(s.rest, ":", "", 1)
	return (len(digits) == 2 || len(digits) == 4) && leadingDigits(digits) == len(digits)
}

var (
	months   = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)

// indexOfName returns the number of a month or weekday, from 1, of which at least three
// letters are given, or 0.
func indexOfName(word string, names []string) int {
	if len(word) < 3 {
		return 0
	}
	for i, name := range names {
		if len(word) <= len(name) && strings.EqualFold(word, name[:len(word)]) {
			return i + 1
		}
	}
	return 0
}
