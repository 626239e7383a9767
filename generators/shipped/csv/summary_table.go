package csv

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
)

// maxGroupName bounds the name of a group, in bytes. Rows with a longer value don't
// form a group of their own.
const maxGroupName = 256

// A summaryTable has the statistics of the chosen columns, by group.
type summaryTable struct {
	choice  DatedChoice
	info    *tableInfo
	indexes []int     // of the chosen columns
	columns []*column // the chosen columns
	groupBy *column   // nil for none
	groupAt int       // index of groupBy
	period  period    // of the groups, if groupBy has dates

	groups   map[string]*group // by value
	periods  map[int64]*group  // by the beginning of the period, in Unix seconds
	blank    *group            // the rows with a blank cell in groupBy; nil if there are none
	undated  *group            // the rows whose cell in groupBy is no date, though others are
	other    *group            // the rows of values beyond maxGroups
	warnings []string
}

// A group is the rows with the same value in groupBy, or all rows.
type group struct {
	label string
	rows  int
	stats []columnStats // by chosen column
}

// summarize reads the file another time and returns the chosen summary.
func (f *file) summarize(found *tableInfo, chosen DatedChoice) (*summaryTable, error) {
	t := &summaryTable{choice: chosen, info: found, groups: map[string]*group{}, periods: map[int64]*group{}}
	if err := t.findColumns(); err != nil {
		return nil, err
	}
	header := !found.NoHeader
	rows := 0
	_, err := f.eachRecord(found.layout, "Summarizing", func(_ *recordReader, record []string) {
		if header {
			header = false
			return
		}
		rows++
		t.addRow(record)
	})
	if err == nil && rows != found.Rows {
		err = errors.New("the file changed while it was read")
	}
	t.warnings = t.listWarnings()
	return t, err
}

func (t *summaryTable) findColumns() error {
	for _, name := range t.choice.Columns {
		index, err := t.info.columnIndex(name)
		if err != nil {
			return err
		}
		t.indexes = append(t.indexes, index)
		t.columns = append(t.columns, &t.info.Columns[index])
	}
	if t.choice.GroupBy == "" {
		return nil
	}
	var err error
	if t.groupAt, err = t.info.columnIndex(t.choice.GroupBy); err != nil {
		return err
	}
	if t.groupBy = &t.info.Columns[t.groupAt]; t.groupBy.kind == date {
		if t.period = periodOf(t.choice.Period); t.period == exact {
			t.period = t.groupBy.span().fit(exact, maxPoints)
		} else {
			t.period = t.groupBy.span().fit(t.period, maxGroups)
		}
	}
	return nil
}

func (t *summaryTable) addRow(row []string) {
	g := t.groupOf(row)
	g.rows++
	for i, index := range t.indexes {
		if index < len(row) {
			g.stats[i].addCell(strings.TrimSpace(row[index]), t.columns[i])
		}
	}
}

// groupOf returns the group of a row, which it creates if necessary. If there are
// too many groups, the rows of new ones share the group other.
func (t *summaryTable) groupOf(row []string) *group {
	key := ""
	if t.groupBy != nil && t.groupAt < len(row) {
		key = strings.TrimSpace(row[t.groupAt])
	}
	switch {
	case key == "":
		return t.special(&t.blank, "(blank)")
	case t.groupBy.kind == date:
		return t.periodGroup(key)
	}
	if g, ok := t.groups[key]; ok {
		return g
	}
	if len(t.groups) >= maxGroups || len(key) > maxGroupName {
		return t.special(&t.other, "(other)")
	}
	key = strings.Clone(key)
	t.groups[key] = t.newGroup(key)
	return t.groups[key]
}

// periodGroup returns the group of the rows whose dates are in the same period.
func (t *summaryTable) periodGroup(cell string) *group {
	w, _ := parseDate(cell)
	at, ok := w.in(t.groupBy.monthFirst)
	if !ok {
		return t.special(&t.undated, "(no date)")
	}
	start := t.period.start(at)
	g, ok := t.periods[start.Unix()]
	if !ok {
		g = t.newGroup(t.period.label(start, t.groupBy.span().HasTime))
		t.periods[start.Unix()] = g
	}
	return g
}

func (t *summaryTable) newGroup(label string) *group {
	return &group{label: label, stats: make([]columnStats, len(t.columns))}
}

// special returns a group of rows that have no value to group by.
func (t *summaryTable) special(g **group, label string) *group {
	if *g == nil {
		*g = t.newGroup(label)
	}
	return *g
}

// valueGroups returns the groups of values in their order: dates by time, numbers by
// size, texts by the alphabet. Of periods without rows, it has those whose count or sum
// is 0.
func (t *summaryTable) valueGroups() []*group {
	if t.groupBy != nil && t.groupBy.kind == date {
		return t.periodGroups()
	}
	format := decimalPoint()
	if t.groupBy != nil {
		format = t.groupBy.format
	}
	keys := slices.Collect(maps.Keys(t.groups))
	slices.SortFunc(keys, func(a, b string) int {
		x, _, xOK := format.parse(a)
		y, _, yOK := format.parse(b)
		if xOK && yOK && x != y {
			return cmp.Compare(x, y)
		}
		if xOK != yOK {
			return map[bool]int{true: -1, false: 1}[xOK] // numbers first
		}
		return cmp.Compare(a, b)
	})
	var all []*group
	for _, key := range keys {
		all = append(all, t.groups[key])
	}
	return all
}

func (t *summaryTable) periodGroups() []*group {
	starts := slices.Sorted(maps.Keys(t.periods))
	var all []*group
	for i, start := range starts {
		all = append(all, t.periods[start])
		if t.period == exact || t.choice.Summary != "count" && t.choice.Summary != "sum" || i == len(starts)-1 {
			continue
		}
		for at := t.period.next(time.Unix(start, 0).UTC()); at.Unix() < starts[i+1]; at = t.period.next(at) {
			all = append(all, t.newGroup(t.period.label(at, false)))
		}
	}
	return all
}

// allGroups returns the groups of values, and after them those of rows without one.
func (t *summaryTable) allGroups() []*group {
	all := t.valueGroups()
	for _, g := range []*group{t.blank, t.undated, t.other} {
		if g != nil {
			all = append(all, g)
		}
	}
	return all
}

// value returns the chosen summary of a group's i-th column.
func (t *summaryTable) value(g *group, i int) any {
	v := g.stats[i].value(t.choice.Summary)
	if v == nil && g.rows == 0 && t.choice.Summary == "sum" && t.columns[i].kind.numeric() {
		return 0.
	}
	return v
}

// total returns all rows as one group.
func (t *summaryTable) total() *group {
	sum := t.newGroup("")
	for _, g := range t.allGroups() {
		sum.rows += g.rows
		for i := range sum.stats {
			sum.stats[i].merge(&g.stats[i])
		}
	}
	return sum
}

// listWarnings says which rows and cells the values don't include.
func (t *summaryTable) listWarnings() []string {
	var all []string
	if t.other != nil {
		all = append(all, fmt.Sprintf("%s has more than %s different values, or very long ones: %s in the group \"(other)\".",
			t.choice.GroupBy, humanize.Thousands(maxGroups), humanize.Count(t.other.rows, "row")))
	}
	if chosen := periodOf(t.choice.Period); t.period > chosen && chosen > exact {
		all = append(all, fmt.Sprintf("%s spans too many %s. It is shown in %s.", t.choice.GroupBy, chosen, t.period))
	}
	if t.choice.Summary == "count" {
		return all
	}
	groups := t.allGroups()
	for i, name := range t.choice.Columns {
		var filled, used, lost int
		for _, g := range groups {
			filled += g.stats[i].filled
			u := g.stats[i].countUsed(t.choice.Summary)
			used += u
			if u > 0 && t.value(g, i) == nil {
				lost++
			}
		}
		if lost > 0 {
			all = append(all, fmt.Sprintf("The total of %s is too large to represent, so %s no %s.",
				name, humanize.Plural(lost, "there is", humanize.Count(lost, "group")+" have"), summaryTitle(t.choice.Summary)))
		}
		switch what := t.expectedKind(i); {
		case used == 0:
			all = append(all, fmt.Sprintf("%s has no %ss, so it has no %s.", name, what, summaryTitle(t.choice.Summary)))
		case used < filled:
			ignored := filled - used
			all = append(all, fmt.Sprintf("%s of %s %s and %s ignored.", humanize.Count(ignored, "cell"), name,
				humanize.Plural(ignored, "isn't a "+what, "aren't "+what+"s"), humanize.Plural(ignored, "is", "are")))
		}
	}
	return all
}

// expectedKind returns what the chosen summary takes into account in the i-th column:
// "date" or "number".
func (t *summaryTable) expectedKind(i int) string {
	minmax := t.choice.Summary == "min" || t.choice.Summary == "max"
	if minmax && t.columns[i].kind == date {
		return "date"
	}
	return "number"
}
