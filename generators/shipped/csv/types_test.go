package csv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/shipped/csv"
)

// columnFile returns a file of one column, "a", with semicolons, in which cells may
// have commas.
func columnFile(cells ...string) string {
	return "a;b\n" + strings.Join(cells, ";x\n") + ";x\n"
}

// Columns have the types that people mean.
func TestColumnTypes(t *testing.T) {
	for _, test := range []struct {
		cells   []string
		is      string // the column's type
		summary string
		want    any
		unit    string
	}{
		{[]string{"1", "-2", "+3"}, "whole number", "sum", 2., ""},
		{[]string{"1,234,567", "2"}, "whole number", "sum", 1234569., ""},
		{[]string{"1.234.567", "2"}, "whole number", "sum", 1234569., ""},
		{[]string{"1 234 567", "2"}, "whole number", "sum", 1234569., ""},
		{[]string{"1\u202f234,5", "2"}, "number", "sum", 1236.5, ""},
		{[]string{"1\u00a0234", "2"}, "whole number", "sum", 1236., ""},
		{[]string{"1'234.50", "2"}, "number", "sum", 1236.5, ""},
		{[]string{"1’234’567", "2"}, "whole number", "sum", 1234569., ""},
		{[]string{"0.123", "0.5"}, "number", "sum", .623, ""},
		{[]string{"\u22125", "3"}, "whole number", "sum", -2., ""},
		{[]string{"12%", "3.5 %", "-1%"}, "percentage", "sum", 14.5, "%"},
		{[]string{"$1,234.50", "$2", "-$3", "$-4", "($5.00)"}, "amount in $", "sum", 1224.5, "$"},
		{[]string{"1.234,50 €", "2 €"}, "amount in €", "sum", 1236.5, "€"},
		{[]string{"€ 1.234", "€ 2.000"}, "amount in €", "sum", 3234., "€"},
		{[]string{"£1,234", "£2,000"}, "amount in £", "sum", 3234., "£"},
		{[]string{"USD 12.50", "USD 2"}, "amount in USD", "sum", 14.5, "USD"},
		{[]string{"12 kr", "3,50 kr"}, "amount in kr", "sum", 15.5, "kr"},
		{[]string{"5.00-", "3"}, "number", "sum", -2., ""},
		{[]string{"$1", "€2"}, "text", "sum", nil, ""},
		{[]string{"5 kg", "6 kg"}, "text", "sum", nil, ""},
		{[]string{"007", "0815"}, "text", "sum", nil, ""},
		{[]string{"12345678901234567", "1"}, "text", "sum", 1., ""},
		{[]string{"yes", "No", "YES"}, "yes or no", "sum", 2., ""},
		{[]string{"true", "FALSE"}, "yes or no", "mean", .5, ""},
		{[]string{"y", "n"}, "yes or no", "sum", 1., ""},
		{[]string{"yes", "maybe"}, "text", "sum", nil, ""},
		{[]string{"2026-01-31", "2025-12-31"}, "date", "min", "2025-12-31", ""},
		{[]string{"2026-01-31T10:30:00Z", "2026-01-31T09:00:00+02:00"}, "date", "min", "2026-01-31 09:00", ""},
		{[]string{"2026-01-31 10:30", "2026-01-31 09:00"}, "date", "max", "2026-01-31 10:30", ""},
		{[]string{"2026/1/31", "2025/12/1"}, "date", "max", "2026-01-31", ""},
		{[]string{"31.12.2025", "1.1.2026"}, "date", "max", "2026-01-01", ""},
		{[]string{"31.12.25", "01.01.26"}, "date", "min", "2025-12-31", ""},
		{[]string{"13/12/2025", "1/11/2026"}, "date", "max", "2026-11-01", ""},
		{[]string{"12/13/2025", "1/11/2026"}, "date", "max", "2026-01-11", ""},
		{[]string{"12/31/69", "1/1/70"}, "date", "max", "2069-12-31", ""},
		{[]string{"31-12-2025", "01-01-2026"}, "date", "max", "2026-01-01", ""},
		{[]string{"31 Dec 2025", "1 January 2026"}, "date", "max", "2026-01-01", ""},
		{[]string{"31-Dec-25", "1-Jan-26"}, "date", "max", "2026-01-01", ""},
		{[]string{"Dec 31, 2025", "January 1st, 2026"}, "date", "max", "2026-01-01", ""},
		{[]string{"Jan 1 2000", "Feb 1 2000"}, "date", "max", "2000-02-01", ""},
		{[]string{"Wed, 31 Dec 2025 23:59:59 GMT", "Thu, 01 Jan 2026 00:00:00 GMT"}, "date", "min", "2025-12-31 23:59:59", ""},
		{[]string{"12/31/2025 5:30 PM", "12/31/2025 12:15 AM"}, "date", "min", "2025-12-31 00:15", ""},
		{[]string{"2026-01", "2025-12"}, "date", "max", "2026-01-01", ""},
		{[]string{"Dec 2025", "January 2026"}, "date", "max", "2026-01-01", ""},
		{[]string{"2026-02-30", "2026-13-01"}, "text", "max", nil, ""},
		{[]string{"2026-01-01x", "12/31"}, "text", "max", nil, ""},
		{[]string{"12:30", "13:45"}, "text", "max", nil, ""},
		{[]string{"May", "Marching on 3 2026"}, "text", "max", nil, ""},
		{[]string{"", " "}, "empty", "count", 0., ""},
	} {
		p := runFile(t, columnFile(test.cells...), chooseColumns(test.summary, "", "a"))
		if got := tables(t, p)["Columns"].Rows[0][1]; got != test.is {
			t.Errorf("%q is %s, want %s", test.cells, got, test.is)
		}
		v := beamtest.Decode[csv.Exploration](t, p).Views[0]
		if v.Value != test.want || v.Unit != test.unit {
			t.Errorf("%q: the %s is %v %s, want %v %s", test.cells, test.summary, v.Value, v.Unit, test.want, test.unit)
		}
	}
}

// Where a file leaves open what a column means, the user is asked.
func TestAmbiguousColumns(t *testing.T) {
	for _, test := range []struct {
		content  string
		key      string // of the question
		question string
		choices  string
		want     map[string]any // by answer, the largest value of the column
	}{
		{columnFile("3/4/2026", "5/6/2026"), "dates", "The dates in a can be read in two ways. Which day is 3/4/2026?",
			"3 April 2026: the day comes first | March 4, 2026: the month comes first", map[string]any{"day": "2026-06-05", "month": "2026-05-06"}},
		{"a;c\n1/2/26;03-04-2026 10:00\n", "dates", "The dates in a and c can be read in two ways. Which day is 1/2/26?",
			"1 February 2026: the day comes first | January 2, 2026: the month comes first", map[string]any{"day": "2026-02-01", "month": "2026-01-02"}},
		{columnFile("1.234", "5.678"), "numbers", "The numbers in a can be read in two ways. What does 1.234 mean?",
			"About 1, with 3 decimals | 1234", map[string]any{"point": 5.678, "comma": 5678.}},
		{columnFile("-1,234", "5,678"), "numbers", "The numbers in a can be read in two ways. What does 1,234 mean?",
			"1234 | About 1, with 3 decimals", map[string]any{"point": 5678., "comma": 5.678}},
	} {
		for answer, want := range test.want {
			p := runScript(t, test.content, beamtest.Script{test.key: beamtest.Accept(answer), "view": chooseColumns("max", "", "a")})
			q := p.Questions[test.key]
			if q == nil {
				t.Fatalf("%q: asked were %q, want %s", test.content, p.Asked, test.key)
			}
			var choices []string
			for _, c := range q.Choices(test.key) {
				choices = append(choices, c.Title)
			}
			if q.Message != test.question || strings.Join(choices, " | ") != test.choices {
				t.Errorf("the question is %q with %q", q.Message, choices)
			}
			if got := beamtest.Decode[csv.Exploration](t, p).Views[0].Value; got != want {
				t.Errorf("%q read as %s: the largest is %v, want %v", test.content, answer, got, want)
			}
		}
	}
}

// Nothing is asked about a column if another, or the delimiter, says what it means.
func TestUnambiguousColumns(t *testing.T) {
	for content, want := range map[string]any{
		"a;b\n3/4/2026;12/31/2026\n":             "2026-03-04",
		"a;b\n3/4/2026;31/12/2026\n":             "2026-04-03",
		"a;b\n3/3/2026;x\n":                      "2026-03-03",
		"a;b\n1.234;0,5\n":                       1234.,
		"a;b\n1.234;0.5\n":                       1.234,
		"a,b\n1.234,x\n":                         1.234,
		"a,b\n\"1,234\",x\n":                     1234.,
		"a,b\n" + strings.Repeat("12,x\n", 2000): 12.,
	} {
		p := runFile(t, content, chooseColumns("max", "", "a"))
		if got := beamtest.Decode[csv.Exploration](t, p).Views[0].Value; got != want || len(p.Asked) != 3 {
			t.Errorf("%q: the largest is %v, want %v; asked were %q", content[:min(len(content), 40)], got, want, p.Asked)
		}
	}
}

// Groups of amounts and percentages are in order of size.
func TestGroupsOfAmounts(t *testing.T) {
	p := runFile(t, "a,b\n$9,1\n$10,2\n\"$1,000\",3\n", chooseColumns("sum", "a", "b"))
	if got := fmt.Sprint(charts(t, p)["Sum of b by a"].Labels); got != "[$9 $10 $1,000]" {
		t.Errorf("the groups are %s", got)
	}
}

// The unit is in the axis of a chart and in the head of a table.
func TestUnitsAreShown(t *testing.T) {
	p := runFile(t, "a,b\nx,$9\ny,$10\n", chooseColumns("sum", "a", "b"))
	if c := charts(t, p)["Sum of b by a"]; c.YTitle != "sum ($)" {
		t.Errorf("the axis is %q", c.YTitle)
	}
	if s := p.Statuses(); !strings.Contains(s[len(s)-1], "Sum of b by a: $19, the largest in y ($10), over 2 rows in 2 groups") {
		t.Errorf("the statuses are %q", s)
	}
	for cells, want := range map[string]string{"-$3": "-$3,", "12 %": "12%,", "3.5 kr": "3.50 kr,", "2 €": "€2,"} {
		p := runFile(t, columnFile(cells), chooseColumns("sum", "", "a"))
		if s := p.Statuses(); !strings.Contains(s[len(s)-1], "Sum of a: "+want) {
			t.Errorf("the statuses are %q, want one with %s", s, want)
		}
	}
}

// What people read is rounded.
func TestLongNumbersAreRounded(t *testing.T) {
	for cells, want := range map[string]string{"1\n2\n2": "Mean of a: 1.667,", "0.001\n0.002\n0.002": "Mean of a: 0.001667,"} {
		p := runFile(t, "a\n"+cells+"\n", chooseColumns("mean", "", "a"))
		if s := p.Statuses(); !strings.Contains(s[len(s)-1], want) {
			t.Errorf("the statuses are %q, want one with %s", s, want)
		}
	}
}

// TestAmounts checks that numbers are shown as people write them.
func TestAmounts(t *testing.T) {
	for cells, want := range map[string]string{
		"$95746697.27": "$95,746,697.27,", "-$95746697.2": "-$95,746,697.20,", "€1234567": "€1,234,567,", "US$ 1234.5": "US$1,234.50,",
		"1234567.891 EUR": "1,234,567.89 EUR,", "0.005 €": "€0.005,", "1234.25 %": "1,234.25%,", "1234567.125": "1,234,567.125,", "12345678": "12,345,678,",
	} {
		p := runFile(t, "a\tb\n"+cells+"\tx\n", chooseColumns("sum", "", "a"))
		if s := p.Statuses(); !strings.Contains(s[len(s)-1], "Sum of a: "+want) {
			t.Errorf("%s: the statuses are %q, want %q", cells, s, want)
		}
	}
}

// TestUnitsHaveChartsOfTheirOwn checks that no axis has two units.
func TestUnitsHaveChartsOfTheirOwn(t *testing.T) {
	content := "who,price,share,tax,n\na,$1,10%,$2,7\nb,$3,20%,$4,8\n"
	all := charts(t, runFile(t, content, chooseColumns("sum", "who", "price", "share", "tax", "n")))
	for title, want := range map[string]string{
		"Sum of price, tax by who": "sum ($) [{price [1 3]} {tax [2 4]}]", "Sum of share by who": "sum (%) [{share [10 20]}]", "Sum of n by who": "sum [{n [7 8]}]",
	} {
		if c := all[title]; fmt.Sprint(c.YTitle, " ", c.Series) != want {
			t.Errorf("the charts are %v, want %s: %s", all, title, want)
		}
	}
	if len(all) != 3 {
		t.Errorf("%d charts: %v", len(all), all)
	}
	p := runFile(t, content, chooseColumns("sum", "", "price", "share", "tax"))
	if all := charts(t, p); len(all) != 1 || fmt.Sprint(all["Sum of price, tax"].Labels) != "[price tax]" {
		t.Errorf("without groups, the charts are %v", all)
	}
	if table := tables(t, p)["Sum of price, share, tax"]; len(table.Rows) != 3 {
		t.Errorf("the table is %v", table)
	}
	if all := charts(t, runFile(t, content, chooseColumns("count", "who", "price", "share"))); len(all) != 1 {
		t.Errorf("counts have the charts %v", all)
	}
}
