package csv_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/csv"
)

// FuzzCSV uploads arbitrary bytes. The run must end with a result that matches the
// output schema, or with an error that names the file.
func FuzzCSV(f *testing.F) {
	for i, content := range []string{
		salesCSV, "", "a;b\n1,5;2\n", "sep=|\na|b\n1|2\n", "\xef\xbb\xbfa,b\n1,2\n", encode16("a;b\n1;2\n", false), encode16("a,b\n1,2\n", true),
		"a,b\r1,2\r", "a,b\n\"1\n2\",3\n", "a,b\n\"1,2\n", "\x89PNG\r\n\x1a\n", "{\"a\":1}", "gr\xf6\xdfe,n\n\xe4,1e308\nx,1e308\n", "a,a,,\n1,2,3,4,5\n1\n",
		"d\n2026-01-01\n2026-01-02T10:00\n", "1,2\n3,4\n", "It was a dark night.\nIt rained.\n", "a,b\n-1.5e-3,+.5\n", "x,\x03end of file\x03\n1,2\n",
	} {
		f.Add([]byte(content), byte(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, content []byte, summary byte, grouped bool) {
		chosen := []string{"count", "sum", "mean", "min", "max"}[summary%5]
		raw, err := summarizeFile(t, content, chosen, grouped)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "data.csv: ") {
				t.Fatalf("the error doesn't name the file: %v", err)
			}
			return
		}
		if err := csv.Photon.Output().Validate(raw); err != nil {
			t.Fatalf("the result %s doesn't match the schema: %v", raw, err)
		}
		if chosen == "count" && grouped {
			whole, err := summarizeFile(t, content, chosen, false)
			if a, b := sumCounts(t, raw), sumCounts(t, whole); err != nil || a != b {
				t.Fatalf("the groups have %v cells in all, the file has %v (%v)", a, b, err)
			}
		}
	})
}

// summarizeFile uploads a file and chooses its first columns. If grouped is true, it
// groups by the last.
func summarizeFile(t *testing.T, content []byte, summary string, grouped bool) (json.RawMessage, error) {
	choose := func(q *ask.Question) any {
		var names []string
		for _, c := range q.Fields.Field("columns").Choices {
			names = append(names, c.Value)
		}
		chosen := csv.Choice{Columns: names[:min(len(names), 20)], Summary: summary}
		if grouped {
			chosen.GroupBy = names[len(names)-1]
		}
		return chosen
	}
	p := runFile(t, string(content), beamtest.Accept(choose))
	return p.Result, p.Err
}

func sumCounts(t *testing.T, raw json.RawMessage) (cells float64) {
	t.Helper()
	var s csv.Summary
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Values {
		n, ok := v.Value.(float64)
		if !ok {
			t.Fatalf("count = %v, want a number", v.Value)
		}
		cells += n
	}
	return cells
}
