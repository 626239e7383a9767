package ui

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/web/timeline"
)

// patchBatch gathers what a batch of changes comes to.
type patchBatch struct {
	patches []Patch

	changedRows []*timeline.Item // changed rows, in the order of their first change
	rowChanges  map[*timeline.Item]*rowChange
	droppedRows []uint64
	toasts      []templ.Component

	stateChanged, progressChanged, asksChanged bool
}

type rowChange struct {
	added    bool
	redraw   bool // more changed than text at the end
	appended strings.Builder
}

func newPatchBatch(changes []timeline.Change) *patchBatch {
	b := &patchBatch{rowChanges: make(map[*timeline.Item]*rowChange)}
	for i := range changes {
		c := &changes[i]
		b.stateChanged = b.stateChanged || c.StateChanged
		b.progressChanged = b.progressChanged || c.ProgressChanged
		b.asksChanged = b.asksChanged || c.AsksChanged
		if c.Item != nil {
			b.recordRow(c.Item, c)
		}
		for _, also := range c.AlsoChanged {
			b.recordRow(also, &timeline.Change{Item: also})
		}
		if c.Dropped != 0 {
			b.recordDrop(c.Dropped)
		}
	}
	return b
}

func (b *patchBatch) recordRow(i *timeline.Item, c *timeline.Change) {
	s := b.rowChanges[i]
	if s == nil {
		s = &rowChange{}
		b.rowChanges[i] = s
		b.changedRows = append(b.changedRows, i)
	}
	s.added = s.added || c.Added
	if c.Appended != "" && !c.Added {
		s.appended.WriteString(c.Appended)
	} else {
		s.redraw = true
	}
	if c.Added && i.Kind == timeline.Toast {
		b.toasts = append(b.toasts, Toast(i))
	}
}

// recordDrop forgets a row that came and went within the batch, and has any other
// one removed.
func (b *patchBatch) recordDrop(seq uint64) {
	b.droppedRows = append(b.droppedRows, seq)
}

// patchRows patches the timeline, row by row however many they are: to draw it anew
// has the browser compare old rows with new ones, which takes longer than to
// remove some and append others, and undoes what a person did with one that stays.
func (b *patchBatch) patchRows(r *timeline.Run) {
	if len(b.droppedRows) > 0 {
		b.replace(DroppedNote(r.DroppedItems))
	}
	gone := make(map[uint64]bool, len(b.droppedRows))
	for _, seq := range b.droppedRows {
		gone[seq] = true
	}
	b.changedRows = slices.DeleteFunc(b.changedRows, func(i *timeline.Item) bool {
		if !gone[i.Seq] {
			return false
		}
		if b.rowChanges[i].added {
			delete(gone, i.Seq) // the page never had it
		}
		return true
	})
	b.remove(gone)
	var added, changed []templ.Component
	for _, i := range b.changedRows {
		switch s := b.rowChanges[i]; {
		case s.added:
			added = append(added, Row(r, i))
		case s.redraw:
			changed = append(changed, Row(r, i))
		default:
			b.add("#"+i.ID()+"-text", "append", escapedText(s.appended.String()))
		}
	}
	if len(changed) > 0 {
		b.replace(changed...)
	}
	if len(added) > 0 {
		b.add("#timeline", "append", concat(added...))
	}
}

func (b *patchBatch) remove(gone map[uint64]bool) {
	if len(gone) == 0 {
		return
	}
	var ids []string
	for _, seq := range b.droppedRows {
		if gone[seq] {
			ids = append(ids, "#"+(&timeline.Item{Seq: seq}).ID())
		}
	}
	b.add(strings.Join(ids, ","), "remove", nil)
}

// patchAsks patches the dock: forms that are there already are left alone, with what
// is typed and what was found wrong in them.
func (b *patchBatch) patchAsks(r *timeline.Run) {
	var settled []string
	answers := false
	var opened []templ.Component
	for _, i := range b.changedRows {
		if i.Kind != timeline.Asked {
			continue
		}
		answers = answers || i.Ask.State == timeline.Answered
		switch s := b.rowChanges[i]; {
		case i.Ask.State != timeline.Open && !s.added:
			settled = append(settled, "#"+askElementID(i.Ask.ID))
		case i.Ask.State == timeline.Open && s.added:
			opened = append(opened, AskForm(i.Ask.OpenAsk, nil, nil))
		}
	}
	if len(settled) > 0 {
		b.add(strings.Join(settled, ","), "remove", nil)
	}
	if len(opened) > 0 {
		b.add("#asks", "append", concat(opened...))
	}
	b.patchPositions(r)
	if answers {
		b.replace(EarlierAnswers(r))
	}
	if !b.stateChanged {
		b.replace(StateAnnouncement(r))
	}
}

// patchPositions numbers the open questions.
func (b *patchBatch) patchPositions(r *timeline.Run) {
	for n, a := range r.Open {
		b.add("#"+askElementID(a.ID)+"-place", "inner", escapedText(formatPosition(n+1, len(r.Open))))
	}
}

func (b *patchBatch) replace(c ...templ.Component) { b.add("", "outer", concat(c...)) }

func (b *patchBatch) add(selector, mode string, c templ.Component) {
	b.patches = append(b.patches, Patch{selector, mode, withoutReturns(c)})
}
