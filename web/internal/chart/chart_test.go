package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
)

func renderHTML(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkChart checks that a chart is well-formed XML with all marks inside it and no
// styles, and returns it.
func checkChart(t *testing.T, c generators.Chart) string {
	t.Helper()
	v := newChart(c)
	v.id = "e-1"
	if v.IsEmpty() {
		return ""
	}
	for _, s := range Sizes {
		checkSVG(t, renderHTML(t, v.SVG("title", s)))
	}
	checkSVG(t, v.Picture("title"))
	return renderHTML(t, v.SVG("title", Sizes[1]))
}

func checkSVG(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var width, height float64
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			if a.Name.Local == "style" {
				t.Errorf("<%s> has a style", e.Name.Local)
			}
			v, err := strconv.ParseFloat(a.Value, 64)
			switch a.Name.Local {
			case "width", "x", "x1", "x2", "cx":
				if e.Name.Local == "svg" {
					width = v
				}
				checkBounds(t, e.Name.Local+" "+a.Name.Local, v, err, width)
			case "height", "y", "y1", "y2", "cy":
				if e.Name.Local == "svg" {
					height = v
				}
				checkBounds(t, e.Name.Local+" "+a.Name.Local, v, err, height)
			}
		}
	}
}

func checkBounds(t *testing.T, what string, v float64, err error, most float64) {
	t.Helper()
	if err != nil || v < -0.1 || v > most+0.1 {
		t.Errorf("%s is %v, outside of 0 to %v (%v)", what, v, most, err)
	}
}

func TestCharts(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	long := strings.Repeat("a very long label ", 10)
	values := map[string][]float64{
		"one": {5}, "zero": {0}, "zeros": {0, 0, 0}, "equal": {7, 7, 7}, "negative": {-5, -3, -9}, "mixed": {-5, 0, 12},
		"large": {1e12, 3e12, 2.5e12}, "huge": {1e300, -1e300}, "greatest": {math.MaxFloat64, -math.MaxFloat64}, "tiny": {1e-9, 3e-9}, "least": {5e-324, 0},
		"gaps": {1, nan, 3, inf, 5, -inf}, "far": {1e6, 1e6 + 1}, "many": make([]float64, 5000),
	}
	for name, vs := range values {
		for _, kind := range []generators.ChartKind{generators.Bars, generators.Lines, generators.Areas, generators.Histogram} {
			for _, labels := range [][]string{nil, {"a", "b", "c", "d", "e", "f"}, {long, long, long, long, long, long}} {
				c := generators.Chart{Kind: kind, XTitle: long, YTitle: long, Labels: labels, Series: []generators.Series{{Name: name, Values: vs}}}
				t.Run(name+" "+string(kind), func(t *testing.T) {
					if svg := checkChart(t, c); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
						t.Errorf("not a number: %s", svg)
					}
					c.Series = append(c.Series, generators.Series{Values: []float64{1, 2}}, generators.Series{})
					checkChart(t, c)
				})
			}
		}
	}
}

func TestChartsWithoutValues(t *testing.T) {
	for _, c := range []generators.Chart{
		{Kind: generators.Bars},
		{Kind: generators.Lines, Labels: []string{"a"}},
		{Kind: generators.Lines, Labels: []string{"a"}, Series: []generators.Series{{}}},
		{Kind: generators.Bars, Labels: []string{"a"}, Series: []generators.Series{{Values: []float64{math.NaN()}}}},
	} {
		if got := newChart(c); !got.IsEmpty() {
			t.Errorf("%+v is not empty", c)
		}
	}
}

func TestChartsAreBounded(t *testing.T) {
	c := generators.Chart{Kind: generators.Bars}
	for range 40 {
		c.Series = append(c.Series, generators.Series{Values: make([]float64, 5000)})
	}
	v := newChart(c)
	if len(v.data.Series) != maxSeries || len(v.data.Labels) != maxPoints || v.note == "" {
		t.Errorf("%d series of %d values are drawn, and it says %q", len(v.data.Series), len(v.data.Labels), v.note)
	}
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 10, "0 2 4 6 8 10"}, {0, 31000, "0 10k 20k 30k 40k"}, {0, 1e12, "0 200B 400B 600B 800B 1T"},
		{-12, 87, "-20 0 20 40 60 80 100"}, {0, 0, "0 0.2 0.4 0.6 0.8 1.0"}, {7, 7, "2 4 6 8 10 12"},
		{0.1, 0.35, "0.10 0.15 0.20 0.25 0.30 0.35"}, {1e-9, 3e-9, "1e-09 1.5e-09 2e-09 2.5e-09 3e-09"},
	} {
		s := newScale(tt.lo, tt.hi, 5)
		var got []string
		for _, tick := range s.ticks {
			got = append(got, s.tickLabel(tick))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("from %v to %v: %s, want %s", tt.lo, tt.hi, strings.Join(got, " "), tt.want)
		}
		if s.min > tt.lo || s.max < tt.hi {
			t.Errorf("from %v to %v: the scale is from %v to %v", tt.lo, tt.hi, s.min, s.max)
		}
	}
}

func TestCompactNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 12.5: "12.5", 950: "950", 4711: "4711", 9999: "9999", 12345: "12.3k", 254000: "254k", 1e6: "1M", 3.14159: "3.14", -12500: "-12.5k", 1e12: "1T", 1e15: "1e+15", 0.25: "0.25", 1e-9: "1e-09"} {
		if got := compactNumber(v); got != want {
			t.Errorf("short(%v) = %q, want %q", v, got, want)
		}
	}
}

func FuzzChart(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, "a", true)
	f.Add(math.MaxFloat64, -math.MaxFloat64, 5e-324, "<", false)
	f.Fuzz(func(t *testing.T, a, b, c float64, label string, bars bool) {
		kind := generators.Lines
		if bars {
			kind = generators.Bars
		}
		checkChart(t, generators.Chart{Kind: kind, Labels: []string{strings.ToValidUTF8(strings.Map(dropUnprintable, label), ""), "b", "c"}, Series: []generators.Series{{Values: []float64{a, b, c}}}})
	})
}

// dropUnprintable removes the characters that XML can't represent.
func dropUnprintable(r rune) rune {
	if r < ' ' || r == 0xfffe || r == 0xffff || r == 0xfffd {
		return -1
	}
	return r
}
