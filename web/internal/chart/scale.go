package chart

import (
	"math"
	"strconv"

	"github.com/photon-beam/beam/internal/histogram"
)

// An axisScale maps values to pixels. Its ticks are round numbers.
type axisScale struct {
	min, max float64 // values
	from, to float64 // pixels
	ticks    []float64
	step     float64
}

// newScale returns a scale from lo to hi with about n ticks, at multiples of 1, 2 or 5
// times a power of ten.
func newScale(lo, hi float64, n int) axisScale {
	if lo == hi { // also where both are 0
		pad := math.Max(math.Abs(lo)/2, 1)
		if lo >= 0 && lo-pad < 0 {
			lo, hi = 0, hi+pad
		} else {
			lo, hi = lo-pad, hi+pad
		}
	}
	step := histogram.NiceStep((hi/2 - lo/2) / float64(n) * 2)
	s := axisScale{step: step}
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	for k := first; k <= last && len(s.ticks) < 50; k++ {
		s.ticks = append(s.ticks, k*step)
	}
	s.min, s.max = s.ticks[0], s.ticks[len(s.ticks)-1]
	return s
}

func (s axisScale) position(v float64) float64 {
	f := (clampValue(v)/2 - s.min/2) / (s.max/2 - s.min/2)
	return s.from + f*(s.to-s.from)
}

// tickLabel formats a tick's value, as precisely as the ticks require.
func (s axisScale) tickLabel(v float64) string {
	if math.Abs(v) < s.step/1e6 {
		return "0"
	}
	if largest := math.Max(math.Abs(s.min), math.Abs(s.max)); largest >= 1e4 || largest < 1e-4 {
		return compactNumber(v)
	}
	digits := max(0, -int(math.Floor(math.Log10(s.step)+1e-9)))
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// compactNumber formats a number in few characters: 950, 12.5k, 3M, 1T.
func compactNumber(v float64) string {
	abs := math.Abs(v)
	if abs >= 1e15 || abs != 0 && abs < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	unit := ""
	for _, u := range []string{"k", "M", "B", "T"} {
		if abs < 9999.5 && unit == "" || abs < 999.5 {
			break
		}
		abs, v, unit = abs/1000, v/1000, u
	}
	digits := 3 - int(math.Floor(math.Log10(math.Max(abs, 1)))) - 1
	s := strconv.FormatFloat(v, 'f', max(digits, 0), 64)
	return trimZeros(s) + unit
}

func trimZeros(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] != '.' {
			continue
		}
		end := len(s)
		for s[end-1] == '0' {
			end--
		}
		if s[end-1] == '.' {
			end--
		}
		return s[:end]
	}
	return s
}
