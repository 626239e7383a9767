package ui

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/timeline"
)

// A Patch is one change to a page that is open: Mode is one of Datastar's
// (outer, inner, append, remove), applied to what Selector finds. An outer
// patch without a selector replaces the elements that have the ids of those in
// Component. A removal has no component.
type Patch struct {
	Selector  string
	Mode      string
	Component templ.Component
}

// maxRows is how many changed rows are patched one by one. Beyond it, the whole
// timeline is cheaper.
const maxRows = 500

// maxToasts bounds the notices that one batch of changes brings up.
const maxToasts = 3

// Pause is how long a page is busy with a batch of that many changes, so how
// long whoever sends them should gather what comes before sending the next.
// Patches that come faster than they can be drawn freeze the page.
func Pause(changes int) time.Duration {
	const frame, row, most = 16 * time.Millisecond, 300 * time.Microsecond, 200 * time.Millisecond
	return min(frame+time.Duration(min(changes, maxRows*4))*row, most)
}

// Patches returns what an open page of the run must change for a batch of
// entries that were applied to r already.
func Patches(r *timeline.Run, changes []timeline.Change) []Patch {
	b := collect(changes)
	if b.head {
		b.outer(RunHead(r), Announce(r))
	}
	b.rows(r)
	if b.progress || b.head {
		b.outer(ProgressBar(r.Progress))
	}
	if b.askChanged {
		b.asks(r)
	}
	if n := len(b.toasts); n > 0 {
		b.add("#toasts", "append", join(b.toasts[max(0, n-maxToasts):]...))
	}
	if r.State.Ended() && b.head {
		b.add("#live", "remove", nil)
	}
	return b.patches
}

// Sync returns what brings an open page of the run up to date, whatever it
// shows: for a reader that comes back. What is being typed stays.
func Sync(r *timeline.Run) []Patch {
	b := &batch{}
	b.outer(RunHead(r), Announce(r), Hidden(r.Hidden))
	b.add("#timeline", "inner", Rows(r))
	b.outer(ProgressBar(r.Progress), dock(r, false))
	if r.State.Ended() {
		b.add("#live", "remove", nil)
	}
	return b.patches
}

// Back returns what tells an open page that it is connected again and has
// missed nothing.
func Back(r *timeline.Run) []Patch {
	b := &batch{}
	b.outer(RunHead(r))
	return b.patches
}

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

// rows patches the timeline.
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
	if len(b.order)+len(gone) > maxRows {
		b.add("#timeline", "inner", Rows(r))
		return
	}
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
	var opened []templ.Component
	for _, i := range b.order {
		if i.Kind != timeline.Asked {
			continue
		}
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
	var places []templ.Component
	for n, a := range r.Open {
		places = append(places, AskPlace(a.ID, n+1, len(r.Open)))
	}
	if len(places) > 0 {
		b.outer(places...)
	}
	if !b.head {
		b.outer(Announce(r))
	}
}

func (b *batch) outer(c ...templ.Component) { b.add("", "outer", join(c...)) }

func (b *batch) add(selector, mode string, c templ.Component) {
	b.patches = append(b.patches, Patch{selector, mode, oneLine(c)})
}

// live tells whether a page of a run in this state gets patches.
func live(s run.State) bool { return !s.Ended() }

// join renders components one after another.
func join(cs ...templ.Component) templ.Component {
	if len(cs) == 1 {
		return cs[0]
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for _, c := range cs {
			if err := c.Render(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// text is escaped text.
func text(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(s))
		return err
	})
}

// oneLine renders a component without carriage returns. They end a line of a
// server-sent event as line feeds do, but whoever splits text into lines may
// only split at the latter, and what follows would be taken for a field of its
// own, from a tool's mouth.
func oneLine(c templ.Component) templ.Component {
	if c == nil {
		return nil
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return c.Render(ctx, noReturns{w})
	})
}

type noReturns struct{ w io.Writer }

func (n noReturns) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, '\r') < 0 {
		return n.w.Write(p)
	}
	if _, err := n.w.Write(bytes.ReplaceAll(p, []byte{'\r'}, nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}
