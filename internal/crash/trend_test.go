package crash

import (
	"math"
	"testing"
)

// A level is something that is measured again and again, and must not rise for
// ever.
type level struct {
	name string
	unit float64 // of the table's figures
	// slack is what it may rise by over the second half of the time, beyond a
	// tenth of its mean: what comes and goes by itself.
	slack  float64
	values []float64
}

// rises tells by how much the second half of the values rises from its beginning
// to its end, by the line that fits it best, and whether that is too much.
func (l *level) rises() (by float64, tooMuch bool) {
	half := l.values[len(l.values)/2:]
	slope, mean := fit(half)
	by = slope * float64(len(half)-1)
	return by, by > math.Max(l.slack, mean/10)
}

// fit is the slope of the line through values at 0, 1, 2 and so on with the least
// squares, and their mean.
func fit(values []float64) (slope, mean float64) {
	n := float64(len(values))
	if n < 2 {
		return 0, 0
	}
	for _, v := range values {
		mean += v / n
	}
	var over, under float64
	for i, v := range values {
		x := float64(i) - (n-1)/2
		over += x * (v - mean)
		under += x * x
	}
	return over / under, mean
}

func TestTrend(t *testing.T) {
	make := func(f func(i float64) float64) *level {
		l := &level{slack: 10}
		for i := range 100 {
			l.values = append(l.values, f(float64(i)))
		}
		return l
	}
	for name, tt := range map[string]struct {
		f    func(float64) float64
		want bool
	}{
		"level":                     {func(float64) float64 { return 1000 }, false},
		"rising, then level":        {func(i float64) float64 { return min(1000, 30*i) }, false},
		"a leak":                    {func(i float64) float64 { return 1000 + 10*i }, true},
		"a saw":                     {func(i float64) float64 { return 1000 + 20*math.Mod(i, 10) }, false},
		"a leak in a saw":           {func(i float64) float64 { return 1000 + 10*i + 20*math.Mod(i, 10) }, true},
		"falling":                   {func(i float64) float64 { return 5000 - 10*i }, false},
		"a rise within what it may": {func(i float64) float64 { return 1000 + i }, false},
	} {
		if by, got := make(tt.f).rises(); got != tt.want {
			t.Errorf("%s: rises by %.0f, too much: %v", name, by, got)
		}
	}
}
