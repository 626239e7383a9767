package generators_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// What doesn't have the form of its media type would be shown in part, or as something else:
// it ends the run when it is yielded.
func TestMalformedArtifactsAreRefused(t *testing.T) {
	table := func(columns []string, rows ...[]any) generators.Event {
		return generators.TableOf("Payments", generators.Table{Columns: columns, Rows: rows})
	}
	chart := func(kind generators.ChartKind, labels []string, values ...float64) generators.Event {
		return generators.ChartOf("Load", generators.Chart{Kind: kind, Labels: labels, Series: []generators.Series{{Name: "cpu", Values: values}}})
	}
	png := []byte("\x89PNG\r\n\x1a\n…")
	for _, tt := range []struct {
		name  string
		event generators.Event
		want  string // part of the error; empty if the artifact is accepted
	}{
		{"a table", table([]string{"name", "amount"}, []any{"Bob", 1_000_000}, []any{nil, true}), ""},
		{"columns of the same name", table([]string{"", "a", "a"}, []any{1, 2, 3}), ""},
		{"an empty table", table(nil), ""},
		{"a longer row", table([]string{"name"}, []any{"Ann"}, []any{"Bob", 1_000_000}), `"Payments" can't be shown: row 2 has 2 values, but the table has 1 column`},
		{"a shorter row", table([]string{"name", "amount"}, []any{"Bob"}), "row 1 has 1 value, but the table has 2 columns"},
		{"rows without columns", table(nil, []any{1}), "row 1 has 1 value, but the table has 0 columns"},
		{"a cell of several values", table([]string{"a"}, []any{[]int{1, 2}}), `row 1 and column "a" is a list`},
		{"a cell without JSON", table([]string{"a"}, []any{math.NaN()}), "NaN"},
		{"a table that is none", generators.File("t", generators.TableType+"; charset=utf-8", []byte(`{"columns":"a"}`)), "it is not a table"},
		{"a table with more members", generators.File("t", generators.TableType, []byte(`{"columns":["a"],"rows":[],"hidden":1}`)), "unknown field"},
		{"two tables", generators.File("t", generators.TableType, []byte(`{"columns":["a"],"rows":[]}{}`)), "something follows"},
		{"a chart", chart(generators.Bars, []string{"Mon", "Tue"}, 1, -2.5), ""},
		{"a histogram", chart(generators.Histogram, nil, 1, 1, 2), ""},
		{"an unknown kind of chart", chart("pie", []string{"Mon"}, 1), `there is no kind of chart "pie"`},
		{"a chart without a kind", chart("", []string{"Mon"}, 1), "there is no kind of chart"},
		{"more values than labels", chart(generators.Lines, []string{"Mon"}, 1, 2), `the series "cpu" has 2 values, but the chart has 1 label`},
		{"fewer values than labels", chart(generators.Areas, []string{"Mon", "Tue"}, 1), "has 1 value, but"},
		{"a histogram with labels", chart(generators.Histogram, []string{"Mon"}, 1), "has no labels"},
		{"a value that is no number", chart(generators.Bars, []string{"Mon"}, math.NaN()), "NaN"},
		{"an infinite value", chart(generators.Histogram, nil, math.Inf(1)), "Inf"},
		{"a value that is missing", generators.File("c", generators.ChartType, []byte(`{"kind":"bars","labels":["a"],"series":[{"name":"s","values":[null]}]}`)), "null"},
		{"JSON", generators.JSON("j", map[string]int{"a": 1}), ""},
		{"what JSON can't represent", generators.JSON("j", func() {}), `"j" can't be shown: json: unsupported type`},
		{"a picture", generators.Image("p", "image/png", png), ""},
		{"a picture of another type", generators.Image("p", "image/jpeg", png), "not a picture of the type image/jpeg"},
		{"a picture with another media type", generators.Image("p", "text/html", png), "a picture has a media type"},
		{"a file of any type", generators.File("f", "no type", png), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ended := false
			p := generators.New("show", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
				ended = !yield(tt.event)
				return "done", nil
			}, nil)
			var events []generators.Event
			var err error
			for e, failed := range driver.Prepare(t.Context(), p, json.RawMessage(`{}`)).All {
				event, _ := e.(generators.Event)
				events, err = append(events, event), failed
			}
			if _, _, encodeErr := driver.Encode(tt.event); (encodeErr == nil) != (tt.want == "") {
				t.Errorf("Encode returned the error %v", encodeErr)
			}
			if tt.want == "" {
				if err != nil || ended || len(events) != 2 {
					t.Fatalf("the error is %v; events: %v", err, events)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !ended || len(events) != 1 || events[0] != nil {
				t.Fatalf("the error is %v, and yield said to go on: %t; events: %v", err, !ended, events)
			}
		})
	}
}
