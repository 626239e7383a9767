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

// A moment is a time since the engine began, which setting the clock doesn't
// move, and 0 is none.
type moment time.Duration

func (e *Engine) now() moment { return moment(time.Since(e.epoch)) + 1 }

func (e *Engine) since(m moment) time.Duration { return time.Duration(e.now() - m) }

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}
