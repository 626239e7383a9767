package csv_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/csv"
	"github.com/photon-beam/beam/internal/driver"
)

func TestSummaries(t *testing.T) {
	for _, test := range []struct {
		summary, groupBy string
		columns          []string
		want             string
	}{
		{"sum", "", []string{"amount"}, "amount=62.1"},
		{"mean", "", []string{"amount"}, "amount=15.525"},
		{"min", "", []string{"amount", "date"}, "amount=1.5 date=2026-01-05"},
		{"max", "", []string{"amount", "date"}, "amount=30.3 date=2026-01-08"},
		{"count", "", []string{"note", "amount"}, "note=3 amount=4"},
		{"sum", "country", []string{"amount"}, "DE/amount=40.4 FR/amount=20.2 (blank)/amount=1.5"},
		{"count", "country", []string{"date", "note"}, "DE/date=2 DE/note=1 FR/date=1 FR/note=1 (blank)/date=1 (blank)/note=1"},
		{"sum", "", []string{"country"}, "country=<nil>"},
		{"max", "", []string{"note"}, "note=<nil>"},
	} {
		p := runFile(t, salesCSV, chooseColumns(test.summary, test.groupBy, test.columns...))
		if got := describeValues(t, p); got != test.want {
			t.Errorf("%s of %v by %q: got %s, want %s", test.summary, test.columns, test.groupBy, got, test.want)
		}
		got := beamtest.Decode[csv.Exploration](t, p)
		if got.Rows != 4 || !slices.Equal(got.Columns, []string{"date", "country", "amount", "note"}) || got.File != "data.csv" || len(got.Views) != len(test.columns) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestQuestions(t *testing.T) {
	p := runFile(t, salesCSV, chooseColumns("sum", "country", "amount"))
	if got := p.Questions["view"].Message; got != "How should the 4 rows be summarized?" {
		t.Errorf("the message is %q", got)
	}
}

func TestCountIsPrefilledWithoutNumbers(t *testing.T) {
	q := runFile(t, "name,town\nAda,London\n", chooseColumns("count", "", "name")).Questions["view"]
	for field, want := range map[string]string{"columns": `["name"]`, "summary": `"count"`} {
		if got := string(q.Default(field)); got != want {
			t.Errorf("the default of %s is %s, want %s", field, got, want)
		}
	}
}

func TestShownTablesAndCharts(t *testing.T) {
	p := runFile(t, salesCSV, chooseColumns("sum", "country", "amount"))
	statuses := p.Statuses()
	for _, want := range []string{
		"data.csv: 4 rows × 4 columns, separated by commas, UTF-8",
		"Sum of amount by country: 62.1, the largest in DE (40.4), over 4 rows in 3 groups",
	} {
		if !slices.Contains(statuses, want) {
			t.Errorf("the statuses are %q; %q is missing", statuses, want)
		}
	}
	shown := tables(t, p)
	wantRows := [][]any{
		{"2026-01-05", "DE", "10.10", `says "hi"`}, {"2026-01-06", "FR", "20.20", "two\nlines"},
		{"2026-01-07", "DE", "30.30", ""}, {"2026-01-08", "", "1.5", "plain"},
	}
	if got := shown["First rows of data.csv"]; !reflect.DeepEqual(got.Rows, wantRows) {
		t.Errorf("the first rows are %v", got)
	}
	wantTypes := [][]any{
		{"date", "date", 4., 0., "2026-01-05"}, {"country", "text", 3., 1., "DE"},
		{"amount", "number", 4., 0., "10.10"}, {"note", "text", 3., 1., `says "hi"`},
	}
	if got := shown["Columns"]; !reflect.DeepEqual(got.Rows, wantTypes) {
		t.Errorf("the columns are %v", got.Rows)
	}
	wantChart := generators.Chart{
		Kind: generators.Bars, XTitle: "country", YTitle: "sum", Labels: []string{"DE", "FR", "(blank)"},
		Series: []generators.Series{{Name: "amount", Values: []float64{40.4, 20.2, 1.5}}},
	}
	if got := charts(t, p)["Sum of amount by country"]; !reflect.DeepEqual(got, wantChart) {
		t.Errorf("the chart is %v", got)
	}
}

func TestChartOverTimeHasLines(t *testing.T) {
	p := runFile(t, salesCSV, chooseColumns("sum", "date", "amount"))
	got := charts(t, p)["Sum of amount by date"]
	if got.Kind != generators.Lines || len(got.Labels) != 4 {
		t.Errorf("the chart is %+v, want lines with 4 points", got)
	}
}

func TestUnansweredQuestion(t *testing.T) {
	responses := map[error]beamtest.Response{
		ask.ErrDeclined: beamtest.Decline(), ask.ErrCancelled: beamtest.Cancel(), ask.ErrTimeout: beamtest.Fail(ask.ErrTimeout),
	}
	for want, response := range responses {
		if p := runFile(t, salesCSV, response); !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("summary: got %s, %v; want %v", p.Result, p.Err, want)
		}
		p := beamtest.Run(t, csv.Photon, "{}", beamtest.Script{"file": response})
		if !errors.Is(p.Err, want) || len(p.Events) > 0 {
			t.Errorf("file: got %d events, %v; want %v", len(p.Events), p.Err, want)
		}
	}
}

func TestInvalidAnswers(t *testing.T) {
	for name, response := range map[string]beamtest.Response{
		"no columns": chooseColumns("sum", ""), "no such column": chooseColumns("sum", "", "price"), "no such summary": chooseColumns("median", "", "amount"),
		"no such group": chooseColumns("sum", "price", "amount"), "no summary": chooseColumns("", "", "amount"), "nothing": beamtest.Accept(nil),
	} {
		var invalid *generators.InvalidError
		if p := runFile(t, salesCSV, response); !errors.As(p.Err, &invalid) {
			t.Errorf("%s: got %s, %v", name, p.Result, p.Err)
		}
	}
	for name, response := range map[string]beamtest.Response{
		"a picture":  beamtest.Accept(beamtest.File{Name: "a.png", MediaType: "image/png", Content: []byte("content")}),
		"257 MB":     beamtest.Accept(beamtest.File{Name: "a.csv", MediaType: "text/csv", Content: make([]byte, 257<<20)}),
		"no file":    beamtest.Accept(nil),
		"a workbook": beamtest.Accept(beamtest.File{Name: "a.xlsx", MediaType: "application/vnd.ms-excel", Content: []byte("content")}),
	} {
		p := beamtest.Run(t, csv.Photon, "{}", beamtest.Script{"file": response})
		var invalid *generators.InvalidError
		if !errors.As(p.Err, &invalid) {
			t.Errorf("%s: got %v", name, p.Err)
		}
	}
}

// Stopping the run while the file is read stops reading.
func TestStopWhileReading(t *testing.T) {
	content := "n\n" + strings.Repeat("1\n", 1<<20)
	file := fileReply(int64(len(content)), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil })
	var seen int
	for e, err := range driver.Prepare(t.Context(), csv.Photon, json.RawMessage("{}")).All {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := driver.CallOf(e); ok {
			if c.Kind != driver.StepKind {
				c.Settle(file)
			}
			continue
		}
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("%d events before the stop, want 2", seen)
	}
}

// TestReplay crashes the photon at every point, in a conversation with every question.
func TestReplay(t *testing.T) {
	content := "day;n;price;share\n1/2/2026;1.234;$5;10%\n3/4/2026;2.345;\"$1,000.50\";20%\n\"x;1;$2;1%\n"
	view := csv.DatedChoice{Choice: csv.Choice{Columns: []string{"n", "price", "share"}, Summary: "sum", GroupBy: "day"}, Period: "month"}
	p := beamtest.Replay(t, csv.Photon, nil, beamtest.Script{
		"file": beamtest.Accept(newFile("no table")), "file#2": beamtest.Accept(newFile(content)),
		"numbers": beamtest.Accept("point"), "dates": beamtest.Accept("month"), "view": beamtest.Accept(view),
		"another": beamtest.Accept(true), "view#2": beamtest.Accept(csv.Choice{Columns: []string{"day"}, Summary: "min"}), "another#2": beamtest.Accept(false),
	})
	if got := beamtest.Decode[csv.Exploration](t, p); len(got.Views) != 4 {
		t.Errorf("got %+v", got)
	}
}
