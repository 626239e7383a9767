package run

import (
	"math"
	"time"
)

// An instant is a time in nanoseconds since 1970, and 0 is none. It takes a
// third of a [time.Time], of which the lists hold millions, and has one order:
// times with and without a monotonic reading have two.
type instant int64

// distant is after all others. It stands for every time that is too late for an
// instant, in 2262.
const distant instant = math.MaxInt64

func instantOf(t time.Time) instant {
	switch {
	case t.IsZero():
		return 0
	case t.After(distant.time()):
		return distant
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}
