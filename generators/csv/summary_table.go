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

// maxGroupName bounds the name of a group, in bytes: a longer text is no group.
const maxGroupName = 256

// summaryTable are the tallies of the chosen columns, by group.
type summaryTable struct {
	choice      Choice
	info        *tableInfo
	columns     []int  // the columns, by their place
	kinds       []kind // of the picked columns
	groupColumn int    // the column to group by, or -1
	groups      map[string]*group
	other       *group // everything beyond maxGroups; nil if there is nothing
}

// A group is the rows that have the same value in a column, or all of them.
type group struct {
	label string
	rows  int
	stats []columnStats // a column each
}

// summarize reads the file a second time.
func (f *file) summarize(found *tableInfo, chosen Choice) (*summaryTable, error) {
	t := &summaryTable{choice: chosen, info: found, groupColumn: -1, groups: map[string]*group{}}
	for _, name := range chosen.Columns {
		place, err := found.columnIndex(name)
		if err != nil {
			return nil, err
		}
		t.columns = append(t.columns, place)
		t.kinds = append(t.kinds, found.columns[place].kind())
	}
	if chosen.GroupBy != "" {
		var err error
		if t.groupColumn, err = found.columnIndex(chosen.GroupBy); err != nil {
			return nil, err
		}
	}
	header := !found.noHeader
	rows := 0
	_, err := f.eachRecord(found.layout, "summarising", func(record []string) {
		if header {
			header = false
			return
		}
		rows++
		t.addRow(record)
	})
	if err == nil && rows != found.rows {
		err = errors.New("it changed while it was read")
	}
	return t, err
}

func (t *summaryTable) addRow(row []string) {
	g := t.groupOf(row)
	g.rows++
	for i, place := range t.columns {
		if place < len(row) {
			g.stats[i].addCell(strings.TrimSpace(row[place]), t.kinds[i], t.info.numbers)
		}
	}
}

// groupOf is the one that the row belongs to. When there are too many, those that
// come new share one.
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

// sortedGroups returns the groups in the order of their values, blanks and others
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

// values lists every group's value of every column.
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

// value is the chosen summary of a group's i-th column.
func (t *summaryTable) value(g *group, i int) any {
	return g.stats[i].value(t.choice.Summary)
}

// warnings say what the values leave out.
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
			all = append(all, fmt.Sprintf("The numbers of %s add up to more than a number can hold: %s no %s.",
				name, humanize.Plural(lost, "there is", humanize.Count(lost, "group")+" have"), summaryTitle(t.choice.Summary)))
		}
		switch what := t.expectedKind(i); {
		case used == 0:
			all = append(all, fmt.Sprintf("%s holds no %ss, so it has no %s.", name, what, summaryTitle(t.choice.Summary)))
		case used < filled:
			left := filled - used
			all = append(all, fmt.Sprintf("%s of %s %s and %s left out.", humanize.Count(left, "cell"), name,
				humanize.Plural(left, "is no "+what, "are no "+what+"s"), humanize.Plural(left, "is", "are")))
		}
	}
	return all
}

// expectedKind is what the chosen summary can be made of in the i-th column.
func (t *summaryTable) expectedKind(i int) string {
	minmax := t.choice.Summary == "min" || t.choice.Summary == "max"
	if minmax && t.kinds[i] == date {
		return "date"
	}
	return "number"
}
