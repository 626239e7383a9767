package histogram_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/histogram"
)

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   string
	}{
		{[]float64{1, 2, 2.5, 3, 9.5, math.NaN(), math.Inf(1)}, "0 to 5: 4, 5 to 10: 1"},
		{[]float64{0, 1, 2, 3, 4}, "0 to 1: 1, 1 to 2: 1, 2 to 3: 1, 3 to 4: 1, 4 to 5: 1"},
		{[]float64{-0.25, 0.25}, "-0.5 to 0.0: 1, 0.0 to 0.5: 1"},
		{[]float64{7, 7}, "7 to 8: 2"},
		{[]float64{0}, "0 to 1: 1"},
		{nil, ""},
		{[]float64{math.NaN(), math.Inf(-1)}, ""},
	} {
		c := histogram.Count(generators.Chart{Kind: generators.Histogram, Labels: []string{"ignored"}, Series: []generators.Series{{Values: tt.values}}})
		var bins []string
		for i, l := range c.Labels {
			bins = append(bins, fmt.Sprintf("%s: %v", l, c.Series[0].Values[i]))
		}
		if got := strings.Join(bins, ", "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.values, got, tt.want)
		}
	}
	bars := generators.Chart{Kind: generators.Bars, Labels: []string{"a"}}
	if got := histogram.Count(bars); len(got.Labels) != 1 {
		t.Errorf("bars became %+v", got)
	}
}

// Every finite value is counted once, whatever the values are.
func FuzzCount(f *testing.F) {
	f.Add(1.0, 2.0, 3.0)
	f.Add(math.MaxFloat64, -math.MaxFloat64, 5e-324)
	f.Add(1e6, 1e6+1e-9, 0.1)
	f.Fuzz(func(t *testing.T, a, b, c float64) {
		counted := histogram.Count(generators.Chart{Kind: generators.Histogram, Series: []generators.Series{{Values: []float64{a, b}}, {Values: []float64{c}}}})
		sum, want := 0.0, 0.0
		for _, s := range counted.Series {
			for _, n := range s.Values {
				sum += n
			}
		}
		for _, v := range []float64{a, b, c} {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				want++
			}
		}
		if sum != want || len(counted.Labels) > 41 {
			t.Errorf("%v of %v values are counted, in %d intervals", sum, want, len(counted.Labels))
		}
	})
}
