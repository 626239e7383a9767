package csv_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/shipped/csv"
)

// FuzzCSV uploads arbitrary bytes. The run must end with a result that matches the
// output schema, or ask for another file with a reason that names this one.
func FuzzCSV(f *testing.F) {
	for i, content := range []string{
		salesCSV, "", "a;b\n1,5;2\n", "sep=|\na|b\n1|2\n", "\xef\xbb\xbfa,b\n1,2\n", encode16("a;b\n1;2\n", false), encode16("a,b\n1,2\n", true),
		"a,b\r1,2\r", "a,b\n\"1\n2\",3\n", "a,b\n\"1,2\n", "\x89PNG\r\n\x1a\n", "{\"a\":1}", "gr\xf6\xdfe,n\n\xe4,1e308\nx,1e308\n", "a,a,,\n1,2,3,4,5\n1\n",
		"d\n2026-01-01\n2026-01-02T10:00\n", "1,2\n3,4\n", "d;n\n1/2/2026;1.234\n3/4/2026;2.345\n", "p,a\n12%,$5\n(3 %),(4.00)\n", "Dec 31 2026 5:00 PM,y\n1-2-26,n\n", "It was a dark night.\nIt rained.\n", "a,b\n-1.5e-3,+.5\n", "x,\x03end of file\x03\n1,2\n",
	} {
		f.Add([]byte(content), byte(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, content []byte, summary byte, grouped bool) {
		chosen := []string{"count", "sum", "mean", "min", "max"}[summary%5]
		p := exploreFirstColumns(t, content, chosen, grouped)
		if p.Err != nil {
			again := p.Questions["file#2"]
			if again == nil || !strings.HasPrefix(again.Message, "data.csv: ") || !errors.Is(p.Err, ask.ErrDeclined) {
				t.Fatalf("the run ended with %v, without a question that names the file", p.Err)
			}
			return
		}
		if err := csv.Photon.Output().Validate(p.Result); err != nil {
			t.Fatalf("the result %s doesn't match the schema: %v", p.Result, err)
		}
		if chosen == "count" && grouped {
			whole := exploreFirstColumns(t, content, chosen, false)
			if a, b := sumCounts(t, p), sumCounts(t, whole); a != b {
				t.Fatalf("the groups have %v cells in all, the file has %v", a, b)
			}
		}
	})
}

// exploreFirstColumns uploads a file and chooses its first columns. If grouped is true,
// it groups by the last. Questions about unclear columns are answered.
func exploreFirstColumns(t *testing.T, content []byte, summary string, grouped bool) *beamtest.Outcome {
	choose := func(q *beamtest.Question) any {
		var names []string
		for _, c := range q.Choices("columns") {
			names = append(names, c.Value)
		}
		chosen := csv.Choice{Columns: names[:min(len(names), 20)], Summary: summary}
		if grouped {
			chosen.GroupBy = names[len(names)-1]
		}
		return chosen
	}
	return runScript(t, string(content), beamtest.Script{
		"view": beamtest.Accept(choose), "dates": beamtest.Accept("month"), "numbers": beamtest.Accept("comma"),
	})
}

func sumCounts(t *testing.T, p *beamtest.Outcome) (cells float64) {
	t.Helper()
	for _, v := range beamtest.Decode[csv.Exploration](t, p).Views {
		n, ok := v.Value.(float64)
		if !ok {
			t.Fatalf("count = %v, want a number", v.Value)
		}
		cells += n
	}
	return cells
}
