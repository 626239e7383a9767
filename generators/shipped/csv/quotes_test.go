package csv_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/shipped/csv"
)

// TestStrayQuotes checks that a quote without its counterpart swallows no rows, and that the
// person and the result's reader are told its line.
func TestStrayQuotes(t *testing.T) {
	for name, test := range map[string]struct {
		content, want string // want is the sum
		rows          int
		warning       string
	}{
		"never closed":            {"a,b\n1,2\n3,\"4\n5,6\n", "b=8", 3, `Line 3 has an opening quote (") without a closing one. It is read as part of its cell`},
		"closed by another one":   {"item,b\n\"Chair,10\nTable,20\n\"Lamp, red\",30\nBed,40\n", "b=100", 4, "Line 2 has an opening quote"},
		"among quoted cells":      {"item,b\n\"Chair\",\"10\"\n\"Table,\"20\"\n\"Lamp\",\"30\"\n", "b=40", 3, ""},
		"in many lines":           {"item,b\n\"A,1\nB,1\n\"C,1\n\"D,1\n\"E,1\n", "b=5", 5, "Lines 2, 4, 5 and 1 more have"},
		"in the first line":       {"\"item,b\nA,1\n", "b=1", 1, "Line 1 has"},
		"with CR LF":              {"item,b\r\n\"A,1\r\n\"B\",2\r\n", "b=3", 2, "Line 2 has"},
		"far from the next quote": {"a,b\n1,\"2\n" + strings.Repeat("5,6\n", 1<<19), "b=3.145728e+06", 1<<19 + 1, "Line 2 has"},
		"in every line":           {"a,b\n" + strings.Repeat("\"\"5,\"\"6,1\n", 1<<18), "a=<nil>", 1 << 18, "and 262,141 more have"},
		"quoted at both ends":     {"item,b\n\"Chair,10\nTable,20\nLamp\",30\n", "b=30", 1, "Line 2 begins a quoted cell whose lines look like rows of their own"},
		"a cell too few":          {"item,b\nBed,1\nBed,1\n\"Chair,10\nLamp,30\"\n", "b=2", 3, "Line 4 begins a quoted cell"},
	} {
		t.Run(name, func(t *testing.T) {
			column, _, _ := strings.Cut(test.want, "=")
			p := runFile(t, test.content, chooseColumns("sum", "", column))
			got := beamtest.Decode[csv.Exploration](t, p)
			if values := describeValues(t, p); values != test.want || got.Rows != test.rows {
				t.Errorf("got %s of %d rows, want %s of %d", values, got.Rows, test.want, test.rows)
			}
			if warnings := strings.Join(got.Warnings, "\n"); !strings.Contains(warnings, test.warning) {
				t.Errorf("the warnings are %q, want %q", warnings, test.warning)
			}
			if statuses := strings.Join(p.Statuses(), "\n"); !strings.Contains(statuses, test.warning) {
				t.Errorf("the statuses are %q, want %q", statuses, test.warning)
			}
		})
	}
}

// TestProperQuotes checks that no warning is given where there is nothing wrong.
func TestProperQuotes(t *testing.T) {
	for name, content := range map[string]string{
		"texts on lines":        "note,b\n\"Dear Ada,\nit works.\n\nYours, Bob\",1\n\"one, two\nthree\",2\n",
		"an address":            "b,address\n1,\"12 Main St, Springfield\nUSA\"\n2,\"a\r\nb\"\n",
		"quotes in texts":       "note,b\n\"she said \"\"no, never\"\"\n and left\",1\n\"a \"big\" one\",2\n",
		"blanks after quotes":   "note,b\n\"x, y\" ,1\n\"z\"\t,2\n",
		"quotes within a cell":  "note,b\n5\" pipe,1\nit's 6\",2\n",
		"empty and quoted only": "note,b\n\"\",1\n\"\"\"\",2\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := runFile(t, content, chooseColumns("sum", "", "b"))
			if got := beamtest.Decode[csv.Exploration](t, p); got.Rows != 2 || len(got.Warnings) > 0 || got.Views[0].Value != 3. {
				t.Errorf("got %+v", got)
			}
		})
	}
}
