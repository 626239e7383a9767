package disk

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// showList yields a chart of the chosen list, which the result shows as a table, except for the
// largest files.
func (r *Report) showList(yield generators.Yield) {
	title := "Largest files"
	switch r.List {
	case listTypes:
		title = "Files by type"
		yield(sumChart(title, "Type", r.Items))
	case listAges:
		title = "Files by age"
		yield(sumChart(title, "Last changed", r.Items))
	}
	yield(generators.StatusAt(generators.Success, title+": "+r.describe()))
}

// newItem returns an item for so many files.
func newItem(name string, of fileSum) Item {
	return Item{Name: displayPath(name), Files: of.files, Size: humanize.Bytes(of.bytes), Bytes: of.bytes}
}

func (f *scan) largestFiles() []Item {
	items := make([]Item, len(f.largest))
	for i, l := range f.largest {
		items[i] = newItem(l.path, fileSum{1, l.bytes})
		// As a string, because time.Time can't be encoded as JSON after the year 9999.
		items[i].Modified = l.modified.UTC().Format(time.RFC3339)
	}
	return items
}

// byType returns the types with the most bytes, and one item for all others.
func (f *scan) byType() []Item {
	names := slices.SortedFunc(maps.Keys(f.types), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.types[b].bytes, f.types[a].bytes), cmp.Compare(a, b))
	})
	var items []Item
	other := f.otherTypes
	for i, name := range names {
		s := f.types[name]
		if i >= maxListed {
			other.add(*s)
			continue
		}
		items = append(items, newItem(cmp.Or(name, "(none)"), *s))
	}
	if other.files > 0 {
		items = append(items, newItem("(other)", other))
	}
	return items
}

// byAge returns the age groups, youngest first.
func (f *scan) byAge() []Item {
	var items []Item
	for i, s := range f.ages {
		if i > 0 || s.files > 0 { // usually, no file was modified in the future
			items = append(items, newItem(ageNames[i], s))
		}
	}
	return items
}

// maxBars is the number of bars that are legible in a chart.
const maxBars = 20

// sumChart returns a chart with a bar for each item, in the unit of the largest. If it
// leaves out items, its title says so.
func sumChart(title, what string, items []Item) generators.Event {
	if len(items) > maxBars {
		title += fmt.Sprintf(" (the first %d of %d)", maxBars, len(items))
	}
	most := int64(0)
	for _, i := range items {
		most = max(most, i.Bytes)
	}
	divisor, unit := humanize.ByteUnit(most)
	s := generators.Series{Name: unit}
	c := generators.Chart{Kind: generators.Bars, XTitle: what, YTitle: unit}
	for _, i := range items[:min(len(items), maxBars)] {
		c.Labels = append(c.Labels, i.Name)
		s.Values = append(s.Values, float64(i.Bytes)/divisor)
	}
	c.Series = []generators.Series{s}
	return generators.ChartOf(title, c)
}
