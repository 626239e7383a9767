package ui

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// A patchBatch collects the patches of a batch of changes.
type patchBatch struct {
	patches []Patch

	changedRows []*timeline.Item // in the order of their first change
	rowChanges  map[*timeline.Item]*rowChange
	droppedRows []uint64
	toasts      []templ.Component

	stateChanged, progressChanged, asksChanged bool
}

type rowChange struct {
	added    bool
	redraw   bool // more changed than text appended
	appended strings.Builder
	replied  strings.Builder // text that a model's reply got
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
		for _, seq := range c.Superseded {
			b.recordDrop(seq)
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
	s.replied.WriteString(c.ReplyText)
	if c.Appended != "" && !c.Added {
		s.appended.WriteString(c.Appended)
	} else {
		s.redraw = true
	}
	if c.Added && i.Kind == timeline.Toast {
		b.toasts = append(b.toasts, Toast(i))
	}
}

// recordDrop records that a row was dropped.
func (b *patchBatch) recordDrop(seq uint64) {
	b.droppedRows = append(b.droppedRows, seq)
}

// patchRows patches the timeline row by row, however many rows changed. Rendering the
// whole timeline would make the browser compare all rows, which is slower, and would
// undo what the person did to the rows that stay.
func (b *patchBatch) patchRows(r *timeline.Run) {
	if len(b.droppedRows) > 0 {
		b.replace(DroppedNote(r))
	}
	removed := make(map[uint64]bool, len(b.droppedRows))
	for _, seq := range b.droppedRows {
		removed[seq] = true
	}
	b.changedRows = slices.DeleteFunc(b.changedRows, func(i *timeline.Item) bool {
		if !removed[i.Seq] {
			return false
		}
		if b.rowChanges[i].added {
			delete(removed, i.Seq) // the page never showed it
		}
		return true
	})
	b.remove(removed)
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

// patchReplies appends the text of models' replies to the questions that show them,
// unless the batch renders those as a whole.
func (b *patchBatch) patchReplies(r *timeline.Run) {
	if r.Models == nil {
		return
	}
	for _, i := range b.changedRows {
		s := b.rowChanges[i]
		if i.Kind != timeline.Reply || s.replied.Len() == 0 || i.Ask.State != timeline.Open || i.Ask.Sampling.Phase != sampling.Replying {
			continue
		}
		if b.asksChanged && slices.ContainsFunc(b.changedRows, func(o *timeline.Item) bool { return o.Kind == timeline.Asked && o.Ask == i.Ask }) {
			continue
		}
		b.add("#"+askElementID(i.Ask.ID)+"-reply", "append", escapedText(s.replied.String()))
	}
}

func (b *patchBatch) remove(rows map[uint64]bool) {
	if len(rows) == 0 {
		return
	}
	var ids []string
	for _, seq := range b.droppedRows {
		if rows[seq] {
			ids = append(ids, "#"+(&timeline.Item{Seq: seq}).ID())
		}
	}
	b.add(strings.Join(ids, ","), "remove", nil)
}

// patchAsks patches the dock. It leaves the forms already shown unchanged, with their
// input and their errors.
func (b *patchBatch) patchAsks(r *timeline.Run) {
	var settled []string
	answers := false
	var opened, changed []templ.Component
	for _, i := range b.changedRows {
		if i.Kind != timeline.Asked {
			continue
		}
		answers = answers || i.Ask.State == timeline.Answered
		switch s := b.rowChanges[i]; {
		case i.Ask.State != timeline.Open && !s.added:
			settled = append(settled, "#"+askElementID(i.Ask.ID))
		case i.Ask.State == timeline.Open && s.added:
			opened = append(opened, SampleForm(i.Ask, r.Models, nil, nil))
		case i.Ask.State == timeline.Open:
			changed = append(changed, SampleForm(i.Ask, r.Models, nil, nil))
		}
	}
	if len(settled) > 0 {
		b.add(strings.Join(settled, ","), "remove", nil)
	}
	if len(changed) > 0 {
		b.replace(changed...)
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
	b.patches = append(b.patches, Patch{selector, mode, c})
}
