package crash

import (
	"math"
	"slices"
	"testing"
)

// A resourceSeries has measurements of a resource over time. It must not keep growing.
type resourceSeries struct {
	name string
	unit float64 // of the values in the table
	// slack is how much the values may grow over the second half of the time, unless a
	// tenth of their median is more.
	slack  float64
	values []float64
}

// growth returns how much the second half of the values grows from its
// beginning to its end, and reports whether that is too much.
func (l *resourceSeries) growth() (by float64, tooMuch bool) {
	half := l.values[len(l.values)/2:]
	if len(half) < 2 {
		return 0, false
	}
	by = slope(half) * float64(len(half)-1)
	return by, by > max(l.slack, median(half)/10)
}

// slope returns the slope of the line through values at 0, 1, 2 and so on: the
// median of the slopes between any two (the Theil–Sen estimator), which is
// robust against short peaks.
func slope(values []float64) float64 {
	var all []float64
	for i, v := range values {
		for j, w := range values[:i] {
			all = append(all, (v-w)/float64(i-j))
		}
	}
	return median(all)
}

func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

func TestTrend(t *testing.T) {
	make := func(f func(i float64) float64) *resourceSeries {
		l := &resourceSeries{slack: 10}
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
		"a moment at the end":       {func(i float64) float64 { return 1000 + 900*math.Floor(i/97) }, false},
		"falling":                   {func(i float64) float64 { return 5000 - 10*i }, false},
		"a rise within what it may": {func(i float64) float64 { return 1000 + i }, false},
	} {
		if by, got := make(tt.f).growth(); got != tt.want {
			t.Errorf("%s: rises by %.0f, too much: %v", name, by, got)
		}
	}
}
