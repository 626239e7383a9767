package ui

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/web/timeline"
)

// batch gathers what a batch of changes comes to.
type batch struct {
	patches []Patch

	order    []*timeline.Item // changed rows, in the order of their first change
	rowState map[*timeline.Item]*rowChange
	dropped  []uint64
	toasts   []templ.Component

	head, progress, askChanged bool
}

type rowChange struct {
	added    bool
	whole    bool // more changed than text at the end
	appended strings.Builder
}

func collect(changes []timeline.Change) *batch {
	b := &batch{rowState: make(map[*timeline.Item]*rowChange)}
	for i := range changes {
		c := &changes[i]
		b.head = b.head || c.Head
		b.progress = b.progress || c.Progress
		b.askChanged = b.askChanged || c.Asks
		if c.Item != nil {
			b.row(c.Item, c)
		}
		for _, also := range c.Also {
			b.row(also, &timeline.Change{Item: also})
		}
		if c.Dropped != 0 {
			b.drop(c.Dropped)
		}
	}
	return b
}

func (b *batch) row(i *timeline.Item, c *timeline.Change) {
	s := b.rowState[i]
	if s == nil {
		s = &rowChange{}
		b.rowState[i] = s
		b.order = append(b.order, i)
	}
	s.added = s.added || c.Added
	if c.Appended != "" && !c.Added {
		s.appended.WriteString(c.Appended)
	} else {
		s.whole = true
	}
	if c.Added && i.Kind == timeline.Toast {
		b.toasts = append(b.toasts, ToastNote(i))
	}
}

// drop forgets a row that came and went within the batch, and has any other
// one removed.
func (b *batch) drop(seq uint64) {
	b.dropped = append(b.dropped, seq)
}

// rows patches the timeline, row by row however many they are: to draw it anew
// has the browser compare old rows with new ones, which takes longer than to
// remove some and append others, and undoes what a person did with one that stays.
func (b *batch) rows(r *timeline.Run) {
	if len(b.dropped) > 0 {
		b.outer(Hidden(r.Hidden))
	}
	gone := make(map[uint64]bool, len(b.dropped))
	for _, seq := range b.dropped {
		gone[seq] = true
	}
	b.order = slices.DeleteFunc(b.order, func(i *timeline.Item) bool {
		if !gone[i.Seq] {
			return false
		}
		if b.rowState[i].added {
			delete(gone, i.Seq) // the page never had it
		}
		return true
	})
	b.remove(gone)
	var added, changed []templ.Component
	for _, i := range b.order {
		switch s := b.rowState[i]; {
		case s.added:
			added = append(added, Row(r, i))
		case s.whole:
			changed = append(changed, Row(r, i))
		default:
			b.add("#"+i.ID()+"-text", "append", text(s.appended.String()))
		}
	}
	if len(changed) > 0 {
		b.outer(changed...)
	}
	if len(added) > 0 {
		b.add("#timeline", "append", join(added...))
	}
}

func (b *batch) remove(gone map[uint64]bool) {
	if len(gone) == 0 {
		return
	}
	var ids []string
	for _, seq := range b.dropped {
		if gone[seq] {
			ids = append(ids, "#"+(&timeline.Item{Seq: seq}).ID())
		}
	}
	b.add(strings.Join(ids, ","), "remove", nil)
}

// asks patches the dock: forms that are there already are left alone, with what
// is typed and what was found wrong in them.
func (b *batch) asks(r *timeline.Run) {
	var settled []string
	answers := false
	var opened []templ.Component
	for _, i := range b.order {
		if i.Kind != timeline.Asked {
			continue
		}
		answers = answers || i.Ask.State == timeline.Answered
		switch s := b.rowState[i]; {
		case i.Ask.State != timeline.Open && !s.added:
			settled = append(settled, "#"+cssID(i.Ask.ID))
		case i.Ask.State == timeline.Open && s.added:
			opened = append(opened, AskForm(i.Ask.Open, nil, nil))
		}
	}
	if len(settled) > 0 {
		b.add(strings.Join(settled, ","), "remove", nil)
	}
	if len(opened) > 0 {
		b.add("#asks", "append", join(opened...))
	}
	b.places(r)
	if answers {
		b.outer(Earlier(r))
	}
	if !b.head {
		b.outer(Announce(r))
	}
}

// places numbers the open questions.
func (b *batch) places(r *timeline.Run) {
	for n, a := range r.Open {
		b.add("#"+cssID(a.ID)+"-place", "inner", text(placeOf(n+1, len(r.Open))))
	}
}

func (b *batch) outer(c ...templ.Component) { b.add("", "outer", join(c...)) }

func (b *batch) add(selector, mode string, c templ.Component) {
	b.patches = append(b.patches, Patch{selector, mode, oneLine(c)})
}
