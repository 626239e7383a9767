package csv

import (
	"fmt"
	"time"
)

// A period is a length of time whose rows are one group.
type period int

const (
	exact period = iota // each date, or each moment, is a group
	minute
	hour
	day
	week
	month
	quarter
	year
	decade
	century
)

// String returns the plural.
func (p period) String() string {
	return [...]string{"dates", "minutes", "hours", "days", "weeks", "months", "quarters", "years", "decades", "centuries"}[p]
}

// length returns the period's average length.
func (p period) length() time.Duration {
	const of = 24 * time.Hour
	return [...]time.Duration{1, time.Minute, time.Hour, of, 7 * of, 365 * of / 12, 365 * of / 4, 365 * of, 3652 * of, 36524 * of}[p]
}

// periodOf returns the period that is chosen in a form; exact if none is.
func periodOf(chosen string) period {
	return map[string]period{"day": day, "week": week, "month": month, "quarter": quarter, "year": year}[chosen]
}

// start returns the beginning of the period that t is in.
func (p period) start(t time.Time) time.Time {
	y, m, d := t.Date()
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch p {
	case minute, hour:
		return t.Truncate(p.length())
	case day:
		return at(y, m, d)
	case week:
		return at(y, m, d-int(t.Weekday()+6)%7)
	case month:
		return at(y, m, 1)
	case quarter:
		return at(y, (m-1)/3*3+1, 1)
	case year:
		return at(y, 1, 1)
	case decade:
		return at(y/10*10, 1, 1)
	case century:
		return at(y/100*100, 1, 1)
	}
	return t
}

// next returns the beginning of the period after the one that begins at t.
func (p period) next(t time.Time) time.Time {
	switch p {
	case minute, hour, day, week:
		return t.Add(p.length())
	case month:
		return t.AddDate(0, 1, 0)
	case quarter:
		return t.AddDate(0, 3, 0)
	case year:
		return t.AddDate(1, 0, 0)
	case decade:
		return t.AddDate(10, 0, 0)
	}
	return t.AddDate(100, 0, 0)
}

// label returns the name of the period that begins at t. hasTime says that moments, if
// they are groups, need their time of day.
func (p period) label(t time.Time, hasTime bool) string {
	switch p {
	case exact:
		switch {
		case !hasTime:
			return t.Format(time.DateOnly)
		case t.Second() == 0:
			return t.Format("2006-01-02 15:04")
		}
		return t.Format(time.DateTime)
	case minute, hour:
		return t.Format("2006-01-02 15:04")
	case month:
		return t.Format("2006-01")
	case quarter:
		return fmt.Sprintf("%d Q%d", t.Year(), (t.Month()+2)/3)
	case year:
		return t.Format("2006")
	case decade, century:
		return t.Format("2006") + "s"
	}
	return t.Format(time.DateOnly)
}

// maxPoints is the number of points of a line that are legible.
const maxPoints = 200

// A dateSpan describes the dates of a column.
type dateSpan struct {
	Earliest, Latest time.Time
	Distinct         int // how many there are, up to one more than maxPoints
	HasTime          bool
	seen             map[int64]struct{} // in Unix seconds
}

func (s *dateSpan) add(t time.Time, hasTime bool) {
	if s.seen == nil {
		s.seen = make(map[int64]struct{})
		s.Earliest, s.Latest = t, t
	}
	if t.Before(s.Earliest) {
		s.Earliest = t
	}
	if t.After(s.Latest) {
		s.Latest = t
	}
	s.HasTime = s.HasTime || hasTime
	if s.Distinct <= maxPoints {
		s.seen[t.Unix()] = struct{}{}
		s.Distinct = len(s.seen)
	}
}

// fit returns the shortest period, at least as long as p, of which there are at most so
// many in the span.
func (s *dateSpan) fit(p period, most int) period {
	if p == exact && s.Distinct <= most {
		return exact
	}
	seconds := s.Latest.Unix() - s.Earliest.Unix()
	for p = max(p, minute); p < century && seconds/int64(p.length()/time.Second) >= int64(most); p++ {
	}
	return p
}
