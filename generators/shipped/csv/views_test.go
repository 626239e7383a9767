package csv_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/csv"
)

// After a view comes the question for another, until the user is done, without another
// upload. The form is filled in with the last choice.
func TestAnotherView(t *testing.T) {
	p := runScript(t, salesCSV, beamtest.Script{
		"view": chooseColumns("mean", "country", "amount"), "another": beamtest.Accept(true),
		"view#2":    beamtest.Accept(csv.DatedChoice{Choice: csv.Choice{Columns: []string{"amount"}, Summary: "sum", GroupBy: "date"}, Period: "month"}),
		"another#2": beamtest.Accept(true), "view#3": chooseColumns("count", "", "note"), "another#3": beamtest.Accept(false),
	})
	var titles []string
	for _, v := range beamtest.Decode[csv.Exploration](t, p).Views {
		titles = append(titles, v.Title)
	}
	if want := []string{"Mean of amount by country", "Sum of amount by date, in months", "Count of filled cells of note"}; !slices.Equal(titles, want) {
		t.Errorf("the views are %q, want %q", titles, want)
	}
	if want := []string{"file", "view", "another", "view#2", "another#2", "view#3", "another#3"}; !slices.Equal(p.Asked, want) {
		t.Errorf("asked were %q, want %q", p.Asked, want)
	}
	second, third := p.Questions["view#2"], p.Questions["view#3"]
	for _, d := range []struct{ got, want string }{
		{string(second.Default("summary")), `"mean"`}, {string(second.Default("groupBy")), `"country"`}, {string(third.Default("period")), `"month"`},
	} {
		if d.got != d.want {
			t.Errorf("the form is filled in with %s, want %s", d.got, d.want)
		}
	}
	if m := p.Questions["another"].Message; !strings.HasPrefix(m, "Mean of amount by country: 15.525, the largest in DE (20.2)") {
		t.Errorf("the question is %q; it doesn't say what was shown", m)
	}
}

// Who doesn't want another view has a result, however they say so.
func TestNoOtherView(t *testing.T) {
	for name, script := range map[string]beamtest.Script{
		"done": {"another": beamtest.Accept(false)}, "declined": {"another": beamtest.Decline()}, "dismissed": {"another": beamtest.Cancel()},
		"declined form":  {"another": beamtest.Accept(true), "view#2": beamtest.Decline()},
		"dismissed form": {"another": beamtest.Accept(true), "view#2": beamtest.Cancel()},
	} {
		script["view"] = chooseColumns("sum", "", "amount")
		if got := beamtest.Decode[csv.Exploration](t, runScript(t, salesCSV, script)); len(got.Views) != 1 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	p := runScript(t, salesCSV, beamtest.Script{"view": chooseColumns("sum", "", "amount"), "another": beamtest.Fail(ask.ErrTimeout)})
	if !errors.Is(p.Err, ask.ErrTimeout) {
		t.Errorf("a question that expired: %s, %v", p.Result, p.Err)
	}
}

// After a file that can't be used, the next one is explored.
func TestNextFile(t *testing.T) {
	p := runScript(t, "", beamtest.Script{
		"file#2": beamtest.Accept(newFile("\x89PNG\r\n\x1a\n")), "file#3": beamtest.Accept(newFile(salesCSV)), "view": chooseColumns("sum", "", "amount"),
	})
	if got := describeValues(t, p); got != "amount=62.1" {
		t.Errorf("got %s", got)
	}
	if m := p.Questions["file#3"].Message; !strings.Contains(m, "this is a PNG image") {
		t.Errorf("the question is %q", m)
	}
}

// series returns a file with so many rows, one for each step of time.
func series(rows int, first time.Time, step func(time.Time) time.Time, layout string) string {
	var b strings.Builder
	b.WriteString("when,n\n")
	var lines []string
	for range rows {
		lines = append(lines, fmt.Sprintf("%q,%d\n", first.Format(layout), len(lines)%7+1))
		first = step(first)
	}
	slices.Reverse(lines) // the order of the file is not that of time
	return b.String() + strings.Join(lines, "")
}

// A chart over time has all dates in their order, combined to as many as fit.
func TestTimeSeries(t *testing.T) {
	start := time.Date(2023, 1, 30, 0, 0, 0, 0, time.UTC)
	monthly := func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
	daily := func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	for name, test := range map[string]struct {
		content     string
		title       string
		n           int
		first, last string
	}{
		"123 months":    {series(123, start.AddDate(0, 0, -29), monthly, "Jan 2 2006"), "Sum of n by when", 123, "2023-01-01", "2033-03-01"},
		"150 days":      {series(150, start, daily, "02.01.2006"), "Sum of n by when", 150, "2023-01-30", "2023-06-28"},
		"1,000 days":    {series(1000, start, daily, time.DateOnly), "Sum of n by when, in weeks", 143, "2023-01-30", "2025-10-20"},
		"4 years":       {series(1461, start, daily, time.DateOnly), "Sum of n by when, in months", 49, "2023-01", "2027-01"},
		"100 years":     {series(36500, start.AddDate(-100, 0, 0), daily, time.DateOnly), "Sum of n by when, in years", 101, "1923", "2023"},
		"1,000 minutes": {series(1000, start, func(t time.Time) time.Time { return t.Add(time.Minute) }, "2006-01-02T15:04:05Z"), "Sum of n by when, in hours", 17, "2023-01-30 00:00", "2023-01-30 16:00"},
	} {
		c := charts(t, runFile(t, test.content, chooseColumns("sum", "when", "n")))[test.title]
		if len(c.Labels) != test.n || c.Kind != generators.Lines || c.Labels[0] != test.first || c.Labels[len(c.Labels)-1] != test.last || !slices.IsSorted(c.Labels) {
			t.Errorf("%s: %d labels %q, want %d from %s to %s", name, len(c.Labels), c.Labels, test.n, test.first, test.last)
		}
	}
}

func TestChosenPeriod(t *testing.T) {
	start := time.Date(2023, 1, 30, 0, 0, 0, 0, time.UTC)
	content := series(800, start, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }, time.DateOnly)
	for chosen, want := range map[string]string{"day": "800 2023-01-30", "week": "115 2023-01-30", "month": "28 2023-01", "quarter": "10 2023 Q1", "year": "3 2023"} {
		choice := csv.DatedChoice{Choice: csv.Choice{Columns: []string{"n"}, Summary: "mean", GroupBy: "when"}, Period: chosen}
		for _, c := range charts(t, runFile(t, content, beamtest.Accept(choice))) {
			if got := fmt.Sprint(len(c.Labels), " ", c.Labels[0]); got != want {
				t.Errorf("%s: got %s, want %s", chosen, got, want)
			}
		}
	}
	long := "when,n\n1900-01-01,1\n" + content[len("when,n\n"):]
	choice := csv.DatedChoice{Choice: csv.Choice{Columns: []string{"n"}, Summary: "sum", GroupBy: "when"}, Period: "day"}
	if got := beamtest.Decode[csv.Exploration](t, runFile(t, long, beamtest.Accept(choice))); !slices.Contains(got.Warnings, "when spans too many days. It is shown in quarters.") {
		t.Errorf("the warnings are %q", got.Warnings)
	}
	if q := runFile(t, "a,b\n1,2\n", chooseColumns("sum", "", "a")).Questions["view"]; q.Choices("period") != nil {
		t.Error("a file without dates has a period to choose")
	}
}

// A period without rows has a sum and a count of 0, and no mean.
func TestGapsInTime(t *testing.T) {
	content := "when,n\n"
	for m := 1; m <= 12; m++ {
		if m == 5 {
			continue
		}
		for d := 1; d <= 28; d++ {
			content += fmt.Sprintf("2026-%02d-%02d,2\n", m, d)
		}
	}
	for summary, want := range map[string]string{"sum": "2026-05=0 2026-06=56", "count": "2026-05=0 2026-06=28", "mean": "2026-06=2 2026-07=2"} {
		choice := csv.DatedChoice{Choice: csv.Choice{Columns: []string{"n"}, Summary: summary, GroupBy: "when"}, Period: "month"}
		for _, c := range charts(t, runFile(t, content, beamtest.Accept(choice))) {
			if got := fmt.Sprintf("%s=%v %s=%v", c.Labels[4], c.Series[0].Values[4], c.Labels[5], c.Series[0].Values[5]); got != want {
				t.Errorf("%s: got %s, want %s", summary, got, want)
			}
		}
	}
}

// A chart that leaves something out says so, and then a table has all of it. A chart that
// leaves nothing out has no table beside it, and the result doesn't list its values.
func TestWhatChartsLeaveOut(t *testing.T) {
	var many strings.Builder
	many.WriteString("who,n\n")
	for i := range 60 {
		fmt.Fprintf(&many, "w%d,%d\n", i, i)
	}
	for name, test := range map[string]struct {
		content string
		choice  csv.Choice
		chart   string // its title
		tables  int
	}{
		"complete":       {salesCSV, csv.Choice{Columns: []string{"amount"}, Summary: "sum", GroupBy: "country"}, "Sum of amount by country", 0},
		"too many bars":  {many.String(), csv.Choice{Columns: []string{"n"}, Summary: "sum", GroupBy: "who"}, "Sum of n by who (the 50 largest of 60 groups)", 1},
		"no date":        {salesCSV + ",DE,1,\n,DE,1,\n", csv.Choice{Columns: []string{"amount"}, Summary: "sum", GroupBy: "date"}, "Sum of amount by date (without the 2 rows of (blank))", 1},
		"no value":       {"y,n\n2024,1\n2025,\n2026,3\n", csv.Choice{Columns: []string{"n"}, Summary: "sum", GroupBy: "y"}, "Sum of n by y (without 1 point that has no value)", 1},
		"missing value":  {"y,n,m\n2024,1,2\n2025,,3\n2026,3,4\n", csv.Choice{Columns: []string{"n", "m"}, Summary: "sum", GroupBy: "y"}, "Sum of n, m by y (1 missing value is drawn as 0)", 1},
		"a text column":  {"y,n,t\n2024,1,a\n2025,2,b\n2026,3,c\n", csv.Choice{Columns: []string{"n", "t"}, Summary: "sum", GroupBy: "y"}, "Sum of n, t by y (without t, which has no numbers)", 1},
		"columns":        {"a,b\n1,2\n", csv.Choice{Columns: []string{"a", "b"}, Summary: "sum"}, "Sum of a, b", 0},
		"a value":        {"a,b\n1,2\n", csv.Choice{Columns: []string{"a"}, Summary: "sum"}, "", 0},
		"dates in a row": {"a,b,d\n1,2,2026-01-01\n", csv.Choice{Columns: []string{"a", "b", "d"}, Summary: "max"}, "Largest value of a, b, d (without d, which has no numbers)", 1},
	} {
		p := runFile(t, test.content, beamtest.Accept(test.choice))
		var titles []string
		for title := range charts(t, p) {
			titles = append(titles, title)
		}
		if got := strings.Join(titles, ", "); got != test.chart {
			t.Errorf("%s: the chart is %q, want %q", name, got, test.chart)
		}
		if n := len(tables(t, p)) - len([]string{"First rows", "Columns"}); n != test.tables {
			t.Errorf("%s: there are %d tables of the view, want %d", name, n, test.tables)
		}
		if got := beamtest.Decode[csv.Exploration](t, p); len(got.Views) != len(test.choice.Columns) {
			t.Errorf("%s: the result has %d entries", name, len(got.Views))
		}
	}
}
