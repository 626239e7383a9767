package disk

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// showList yields a list as a table and, except for the largest files, as a chart. It
// returns the list's items.
func (f *scan) showList(yield generators.Yield, list string) []Item {
	var items []Item
	var title string
	switch list {
	case listLargest:
		items, title = f.largestFiles(), "Largest files"
		yield(generators.TableOf(title, fileTable(items)))
	case listTypes:
		items, title = f.byType(), "Files by type"
		yield(generators.TableOf(title, sumTable("Type", items)))
		yield(generators.ChartOf(title, sumChart("Type", items)))
	case listAges:
		items, title = f.byAge(), "Files by age"
		yield(generators.TableOf(title, sumTable("Last changed", items)))
		yield(generators.ChartOf(title, sumChart("Last changed", items)))
	}
	yield(generators.StatusAt(generators.Success, title+": "+f.describe()))
	return items
}

func (f *scan) largestFiles() []Item {
	items := make([]Item, len(f.largest))
	for i, l := range f.largest {
		// As a string, because time.Time can't be encoded as JSON after the year 9999.
		items[i] = Item{Name: l.path, Files: 1, Bytes: l.bytes, Modified: l.modified.UTC().Format(time.RFC3339)}
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
		items = append(items, Item{Name: cmp.Or(name, "(none)"), Files: s.files, Bytes: s.bytes})
	}
	if other.files > 0 {
		items = append(items, Item{Name: "(other)", Files: other.files, Bytes: other.bytes})
	}
	return items
}

// byAge returns the age groups, youngest first.
func (f *scan) byAge() []Item {
	var items []Item
	for i, s := range f.ages {
		if i > 0 || s.files > 0 { // usually, no file was modified in the future
			items = append(items, Item{Name: ageNames[i], Files: s.files, Bytes: s.bytes})
		}
	}
	return items
}

func fileTable(items []Item) generators.Table {
	t := generators.Table{Columns: []string{"File", "Size", "Bytes", "Last changed (UTC)"}}
	for _, i := range items {
		t.Rows = append(t.Rows, []any{displayPath(i.Name), humanize.Bytes(i.Bytes), i.Bytes, i.Modified})
	}
	return t
}

func sumTable(what string, items []Item) generators.Table {
	t := generators.Table{Columns: []string{what, "Files", "Size", "Bytes"}}
	for _, i := range items {
		t.Rows = append(t.Rows, []any{displayPath(i.Name), i.Files, humanize.Bytes(i.Bytes), i.Bytes})
	}
	return t
}

// maxBars is the number of bars that are legible in a chart.
const maxBars = 20

// sumChart returns a chart with a bar for each item, in the unit of the largest.
func sumChart(what string, items []Item) generators.Chart {
	most := int64(0)
	for _, i := range items {
		most = max(most, i.Bytes)
	}
	divisor, unit := humanize.ByteUnit(most)
	s := generators.Series{Name: unit}
	c := generators.Chart{Kind: generators.Bars, XTitle: what, YTitle: unit}
	for _, i := range items[:min(len(items), maxBars)] {
		c.Labels = append(c.Labels, displayPath(i.Name))
		s.Values = append(s.Values, float64(i.Bytes)/divisor)
	}
	c.Series = []generators.Series{s}
	return c
}
