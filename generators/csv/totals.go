package csv

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/words"
)

// maxKey bounds the name of a group, in bytes: a longer text is no group.
const maxKey = 256

// totals are the tallies of the chosen columns, by group.
type totals struct {
	choice Choice
	found  *survey
	picked []int  // the columns, by their place
	kinds  []kind // of the picked columns
	by     int    // the column to group by, or -1
	groups map[string]*group
	other  *group // everything beyond maxGroups; nil if there is nothing
}

// A group is the rows that have the same value in a column, or all of them.
type group struct {
	label   string
	rows    int
	tallies []tally // a column each
}

// summarise reads the file a second time.
func (f *file) summarise(found *survey, chosen Choice) (*totals, error) {
	t := &totals{choice: chosen, found: found, by: -1, groups: map[string]*group{}}
	for _, name := range chosen.Columns {
		place, err := found.place(name)
		if err != nil {
			return nil, err
		}
		t.picked = append(t.picked, place)
		t.kinds = append(t.kinds, found.columns[place].kind())
	}
	if chosen.GroupBy != "" {
		var err error
		if t.by, err = found.place(chosen.GroupBy); err != nil {
			return nil, err
		}
	}
	header := !found.nameless
	rows := 0
	_, err := f.each(found.layout, "summarising", func(record []string) {
		if header {
			header = false
			return
		}
		rows++
		t.take(record)
	})
	if err == nil && rows != found.rows {
		err = errors.New("it changed while it was read")
	}
	return t, err
}

func (t *totals) take(row []string) {
	g := t.group(row)
	g.rows++
	for i, place := range t.picked {
		if place < len(row) {
			g.tallies[i].take(strings.TrimSpace(row[place]), t.kinds[i], t.found.figures)
		}
	}
}

// group is the one that the row belongs to. When there are too many, those that
// come new share one.
func (t *totals) group(row []string) *group {
	key := ""
	if t.by >= 0 && t.by < len(row) {
		key = strings.TrimSpace(row[t.by])
	}
	if g, ok := t.groups[key]; ok {
		return g
	}
	if len(t.groups) >= maxGroups || len(key) > maxKey {
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

func (t *totals) newGroup(label string) *group {
	return &group{label: label, tallies: make([]tally, len(t.picked))}
}

// sorted returns the groups in the order of their values, blanks and others
// last.
func (t *totals) sorted() []*group {
	keys := slices.Collect(maps.Keys(t.groups))
	slices.SortFunc(keys, func(a, b string) int {
		if (a == "") != (b == "") {
			return cmp.Compare(len(b), len(a))
		}
		x, _, xOK := t.found.figures.value(a)
		y, _, yOK := t.found.figures.value(b)
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
func (t *totals) values() []Value {
	all := []Value{}
	for _, g := range t.sorted() {
		for i, name := range t.choice.Columns {
			v := Value{Column: name, Value: t.value(g, i)}
			if t.by >= 0 {
				v.Group = g.label
			}
			all = append(all, v)
		}
	}
	return all
}

// value is the chosen summary of a group's i-th column.
func (t *totals) value(g *group, i int) any {
	return g.tallies[i].value(t.choice.Summary)
}

// warnings say what the values leave out.
func (t *totals) warnings() []string {
	var all []string
	if t.other != nil {
		all = append(all, fmt.Sprintf("%s has more than %s different values, or very long ones: %s in the group \"(other)\".",
			t.choice.GroupBy, words.Thousands(maxGroups), words.Count(t.other.rows, "row")))
	}
	if t.choice.Summary == "count" {
		return all
	}
	for i, name := range t.choice.Columns {
		var filled, used, lost int
		for _, g := range t.sorted() {
			filled += g.tallies[i].filled
			u := g.tallies[i].used(t.choice.Summary)
			used += u
			if u > 0 && t.value(g, i) == nil {
				lost++
			}
		}
		if lost > 0 {
			all = append(all, fmt.Sprintf("The numbers of %s add up to more than a number can hold: %s no %s.",
				name, words.Plural(lost, "there is", words.Count(lost, "group")+" have"), summaryTitle(t.choice.Summary)))
		}
		switch what := t.wanted(i); {
		case used == 0:
			all = append(all, fmt.Sprintf("%s holds no %ss, so it has no %s.", name, what, summaryTitle(t.choice.Summary)))
		case used < filled:
			left := filled - used
			all = append(all, fmt.Sprintf("%s of %s %s and %s left out.", words.Count(left, "cell"), name,
				words.Plural(left, "is no "+what, "are no "+what+"s"), words.Plural(left, "is", "are")))
		}
	}
	return all
}

// wanted is what the chosen summary can be made of in the i-th column.
func (t *totals) wanted(i int) string {
	minmax := t.choice.Summary == "min" || t.choice.Summary == "max"
	if minmax && t.kinds[i] == date {
		return "date"
	}
	return "number"
}
