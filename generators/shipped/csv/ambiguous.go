package csv

import (
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// resolveColumns decides what the columns are. Where a column's own cells leave open
// whether 1.234 has decimals, or whether 3/4/2026 is in March, the other columns
// decide, and if they leave it open too, the user.
func (s *tableInfo) resolveColumns(yield generators.Yield) error {
	var unclear []*column
	points, commas := 0, 0
	days, months := 0, 0
	for i := range s.Columns {
		n, d := &s.Columns[i].Numbers, &s.Columns[i].Dates
		points, commas = points+n.PointOnly, commas+n.CommaOnly
		days, months = days+d.DayOnly, months+d.MonthOnly
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		known := true
		if c.format, known = s.formatOf(&c.Numbers, points, commas); !known {
			unclear = append(unclear, c)
		}
	}
	if err := askNumberFormat(yield, unclear); err != nil {
		return err
	}
	unclear = nil
	for i := range s.Columns {
		c := &s.Columns[i]
		known := true
		if c.monthFirst, known = orderOf(&c.Dates, days, months); !known && !c.isMostlyNumbers() {
			unclear = append(unclear, c)
		}
	}
	if err := askDateOrder(yield, unclear); err != nil {
		return err
	}
	for i := range s.Columns {
		s.Columns[i].resolve()
	}
	return nil
}

func (c *column) isMostlyNumbers() bool { return c.Numbers.count(c.format)*2 > c.Filled }

// formatOf returns the format of a column's numbers. points and commas count the
// file's numbers that are valid in one format only. known is false if the format is a
// guess that matters.
func (s *tableInfo) formatOf(n *numberCounts, points, commas int) (f numberFormat, known bool) {
	switch {
	case n.PointOnly > n.CommaOnly:
		return decimalPoint(), true
	case n.PointOnly < n.CommaOnly:
		return decimalComma(), true
	case n.Either > 0 && n.WithUnit > 0 && n.Unit != "%": // nobody writes three decimals of a currency
		if n.WithPoint*2 > n.Either {
			return decimalComma(), true
		}
		return decimalPoint(), true
	case points > commas:
		return decimalPoint(), true
	case points < commas:
		return decimalComma(), true
	case s.Delimiter == ',': // whoever writes decimal commas separates the cells by something else
		return decimalPoint(), true
	case s.Delimiter == ';':
		return decimalComma(), n.Either == 0
	}
	return decimalPoint(), n.Either == 0
}

// orderOf returns whether the month comes first in a column's dates. days and months
// count the file's dates that are valid in one order only.
func orderOf(d *dateCounts, days, months int) (monthFirst, known bool) {
	switch {
	case d.DayOnly != d.MonthOnly:
		return d.MonthOnly > d.DayOnly, true
	case days != months:
		return months > days, true
	}
	return false, d.Either == 0
}

// askNumberFormat asks for the format of columns.
func askNumberFormat(yield generators.Yield, columns []*column) error {
	if len(columns) == 0 {
		return nil
	}
	example := columns[0].Numbers.Example
	preset := "point"
	if columns[0].format.point == ',' {
		preset = "comma"
	}
	chosen, err := ask.Select(yield, "numbers", fmt.Sprintf("The numbers in %s can be read in two ways. What does %s mean?", listColumns(columns), example),
		[]ask.Choice{
			{Value: "point", Title: decimalPoint().describe(example)},
			{Value: "comma", Title: decimalComma().describe(example)},
		}, ask.Title("Numbers"), ask.Default(preset))
	if err != nil {
		return err
	}
	for _, c := range columns {
		if c.format = decimalPoint(); chosen == "comma" {
			c.format = decimalComma()
		}
	}
	return nil
}

// describe says what a number means in a format, without the mark whose meaning is in
// question.
func (f numberFormat) describe(number string) string {
	v, decimals, _ := f.parse(number)
	if decimals == 0 {
		return fmt.Sprint(int(v))
	}
	return fmt.Sprintf("About %.0f, with %s", v, humanize.Count(decimals, "decimal"))
}

// askDateOrder asks for the order of day and month in columns.
func askDateOrder(yield generators.Yield, columns []*column) error {
	if len(columns) == 0 {
		return nil
	}
	example := columns[0].Dates.Example
	d, _ := parseDate(example)
	chosen, err := ask.Select(yield, "dates", fmt.Sprintf("The dates in %s can be read in two ways. Which day is %s?", listColumns(columns), example),
		[]ask.Choice{
			{Value: "day", Title: d.dayFirst.Format("2 January 2006") + ": the day comes first"},
			{Value: "month", Title: d.monthFirst.Format("January 2, 2006") + ": the month comes first"},
		}, ask.Title("Dates"))
	if err != nil {
		return err
	}
	for _, c := range columns {
		c.monthFirst = chosen == "month"
	}
	return nil
}

// listColumns lists the names of columns in a sentence.
func listColumns(columns []*column) string {
	const most = 3
	var names []string
	for _, c := range columns[:min(len(columns), most)] {
		names = append(names, c.Name)
	}
	if more := len(columns) - most; more > 0 {
		return strings.Join(names, ", ") + " and " + humanize.Count(more, "other column")
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
