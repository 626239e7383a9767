// Package histogram counts the values of charts of [generators.Histogram] in intervals, for
// every surface.
package histogram

import (
	"math"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/generators"
)

// maxBins is how many intervals a histogram has at most.
const maxBins = 40

// Count returns a chart with the intervals of a histogram as its labels, all equally wide, and
// as the values of each series, how many of its values there are in each. Values that are no
// finite numbers aren't counted. Other charts are returned as they are.
func Count(c generators.Chart) generators.Chart {
	if c.Kind != generators.Histogram {
		return c
	}
	lo, hi, n := valueRange(c.Series)
	edges := binEdges(lo, hi, n)
	counted := c
	counted.Labels, counted.Series = nil, nil
	for i := range len(edges) - 1 {
		step := edges[1] - edges[0]
		counted.Labels = append(counted.Labels, edgeLabel(edges[i], step)+" to "+edgeLabel(edges[i+1], step))
	}
	for _, s := range c.Series {
		counted.Series = append(counted.Series, generators.Series{Name: s.Name, Values: count(s.Values, edges)})
	}
	return counted
}

func count(values, edges []float64) []float64 {
	counts := make([]float64, max(len(edges)-1, 0))
	for _, v := range values {
		if isFinite(v) {
			counts[binOf(edges, v)]++
		}
	}
	return counts
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// valueRange returns the least and the greatest finite value, and how many there are.
func valueRange(series []generators.Series) (lo, hi float64, n int) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, v := range s.Values {
			if isFinite(v) {
				lo, hi = min(lo, v), max(hi, v)
				n++
			}
		}
	}
	return lo, hi, n
}

// binEdges returns the edges of the intervals for n values from lo to hi, at multiples of a
// round number; none if there are no values. How many there are follows from Sturges' rule.
func binEdges(lo, hi float64, n int) []float64 {
	if n == 0 {
		return nil
	}
	lo, hi = max(lo, -1e300), min(hi, 1e300)
	if lo >= hi {
		return []float64{lo, lo + NiceStep(math.Abs(lo)/10)}
	}
	bins := min(math.Ceil(math.Log2(float64(n)))+1, maxBins/2)
	step := NiceStep((hi/2 - lo/2) / bins * 2)
	first := math.Floor(lo / step)
	edges := []float64{first * step}
	for k := first + 1; len(edges) <= maxBins && (edges[len(edges)-1] <= hi || len(edges) < 2); k++ {
		edges = append(edges, k*step)
	}
	return edges
}

// binOf returns the interval of a value: the one that begins with it, if it is an edge.
func binOf(edges []float64, v float64) int {
	i, found := slices.BinarySearch(edges, v)
	if !found {
		i--
	}
	return min(max(i, 0), len(edges)-2)
}

// edgeLabel formats an edge as precisely as the width of the intervals requires.
func edgeLabel(v, step float64) string {
	if abs := math.Abs(v); abs >= 1e9 || abs != 0 && abs < 1e-6 || step < 1e-6 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(step)+1e-9))), 64)
}

// NiceStep returns the least of 1, 2, 5 and 10 times a power of ten that is not less than raw;
// 1 if raw is not a positive number.
func NiceStep(raw float64) float64 {
	if raw <= 0 || math.IsInf(raw, 0) || math.IsNaN(raw) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	if power == 0 {
		return raw
	}
	switch m := raw / power; {
	case m <= 1:
		return power
	case m <= 2:
		return 2 * power
	case m <= 5:
		return 5 * power
	}
	return 10 * power
}
