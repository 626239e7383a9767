package csv

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/humanize"
)

// maxGroupName bounds the name of a group, in bytes. Rows with a longer value don't
// form a group of their own.
const maxGroupName = 256

// A summaryTable has the statistics of the chosen columns, by group.
type summaryTable struct {
	choice      Choice
	info        *tableInfo
	columns     []int  // indexes of the chosen columns
	kinds       []kind // of the chosen columns
	groupColumn int    // index of the column to group by, or -1
	groups      map[string]*group
	other       *group // the rows without a group of their own; nil if there are none
}

// A group is the rows with the same value in groupColumn, or all rows.
type group struct {
	label string
	rows  int
	stats []columnStats // by chosen column
}

// summarize reads the file a second time and returns the chosen summary.
func (f *file) summarize(found *tableInfo, chosen Choice) (*summaryTable, error) {
	t := &summaryTable{choice: chosen, info: found, groupColumn: -1, groups: map[string]*group{}}
	for _, name := range chosen.Columns {
		index, err := found.columnIndex(name)
		if err != nil {
			return nil, err
		}
		t.columns = append(t.columns, index)
		t.kinds = append(t.kinds, found.columns[index].kind())
	}
	if chosen.GroupBy != "" {
		var err error
		if t.groupColumn, err = found.columnIndex(chosen.GroupBy); err != nil {
			return nil, err
		}
	}
	header := !found.noHeader
	rows := 0
	_, err := f.eachRecord(found.layout, "summarizing", func(record []string) {
		if header {
			header = false
			return
		}
		rows++
		t.addRow(record)
	})
	if err == nil && rows != found.rows {
		err = errors.New("the file changed while it was read")
	}
	return t, err
}

func (t *summaryTable) addRow(row []string) {
	g := t.groupOf(row)
	g.rows++
	for i, index := range t.columns {
		if index < len(row) {
			g.stats[i].addCell(strings.TrimSpace(row[index]), t.kinds[i], t.info.numbers)
		}
	}
}

// groupOf returns the group of a row, which it creates if necessary. If there are
// too many groups, the rows of new ones share the group other.
func (t *summaryTable) groupOf(row []string) *group {
	key := ""
	if t.groupColumn >= 0 && t.groupColumn < len(row) {
		key = strings.TrimSpace(row[t.groupColumn])
	}
	if g, ok := t.groups[key]; ok {
		return g
	}
	if len(t.groups) >= maxGroups || len(key) > maxGroupName {
		if t.other == nil {
			t.other = t.newGroup("(other)")
		}
		return t.other
	}
	key = strings.Clone(key)
	g := t.newGroup(cmp.Or(key, "(blank)"))
	t.groups[key] = g
	return g
}

func (t *summaryTable) newGroup(label string) *group {
	return &group{label: label, stats: make([]columnStats, len(t.columns))}
}

// sortedGroups returns the groups sorted by value, with the blank and the other group
// last.
func (t *summaryTable) sortedGroups() []*group {
	keys := slices.Collect(maps.Keys(t.groups))
	slices.SortFunc(keys, func(a, b string) int {
		if (a == "") != (b == "") {
			return cmp.Compare(len(b), len(a))
		}
		x, _, xOK := t.info.numbers.parse(a)
		y, _, yOK := t.info.numbers.parse(b)
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
	if t.other != nil {
		all = append(all, t.other)
	}
	return all
}

// values returns the value of each column in each group.
func (t *summaryTable) values() []Value {
	all := []Value{}
	for _, g := range t.sortedGroups() {
		for i, name := range t.choice.Columns {
			v := Value{Column: name, Value: t.value(g, i)}
			if t.groupColumn >= 0 {
				v.Group = g.label
			}
			all = append(all, v)
		}
	}
	return all
}

// value returns the chosen summary of a group's i-th column.
func (t *summaryTable) value(g *group, i int) any {
	return g.stats[i].value(t.choice.Summary)
}

// warnings says which rows and cells the values don't include.
func (t *summaryTable) warnings() []string {
	var all []string
	if t.other != nil {
		all = append(all, fmt.Sprintf("%s has more than %s different values, or very long ones: %s in the group \"(other)\".",
			t.choice.GroupBy, humanize.Thousands(maxGroups), humanize.Count(t.other.rows, "row")))
	}
	if t.choice.Summary == "count" {
		return all
	}
	for i, name := range t.choice.Columns {
		var filled, used, lost int
		for _, g := range t.sortedGroups() {
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
	if minmax && t.kinds[i] == date {
		return "date"
	}
	return "number"
}
