package ui

import (
	"context"
	"io"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// A Patch is one change to an open page: Mode is one of Datastar's (outer, inner,
// append, remove) and applies to the elements that match Selector. An outer patch
// without a selector replaces the elements that have the same ids as those in
// Component. A removal has no component.
type Patch struct {
	Selector  string
	Mode      string
	Component templ.Component
}

// maxToasts is the most toasts that one batch of changes shows.
const maxToasts = 3

// BatchInterval estimates how long a page takes to render a batch of that many changes.
// The sender collects changes for that long before it sends the next batch: patches that
// arrive faster than they can be rendered freeze the page.
func BatchInterval(changes int) time.Duration {
	const frame, row, limit = 16 * time.Millisecond, 300 * time.Microsecond, 200 * time.Millisecond
	return min(frame+time.Duration(min(changes, 2000))*row, limit)
}

// FramePatches returns the patches of the bar and the sidebar around every page.
func FramePatches(c Chrome) []Patch {
	b := &patchBatch{}
	b.replace(InboxLink(c), SignInNote(c), RecentRuns(c))
	return b.patches
}

// ListPatches returns the patch that replaces a page's list, such as [RunsList].
func ListPatches(list templ.Component) []Patch {
	b := &patchBatch{}
	b.replace(list)
	return b.patches
}

// RunPatches returns the patches of a run's page for a batch of changes, which were
// applied to r already.
func RunPatches(r *timeline.Run, changes []timeline.Change) []Patch {
	b := newPatchBatch(changes)
	if b.stateChanged {
		b.replace(RunHead(r), StateAnnouncement(r), DeleteLink(r))
	}
	b.patchRows(r)
	b.patchReplies(r)
	if b.progressChanged {
		b.replace(ProgressBar(r.Progress))
	}
	if b.asksChanged {
		b.patchAsks(r)
	}
	if n := len(b.toasts); n > 0 {
		b.add("#toasts", "append", concat(b.toasts[max(0, n-maxToasts):]...))
	}
	if r.State.Ended() && b.stateChanged {
		b.add("#live", "remove", nil)
	}
	return b.patches
}

// ReasonPatches returns the patches that say anew why the viewer can't answer open questions.
func ReasonPatches(asks []engine.OpenAsk) []Patch {
	b := &patchBatch{}
	for _, a := range asks {
		if a.Excluded {
			b.replace(ExcludedReason(a))
		}
	}
	return b.patches
}

// ResyncPatches returns the patches that bring a run's page up to date whatever it
// shows, for a page that reconnects. They keep what the person is typing.
func ResyncPatches(r *timeline.Run) []Patch {
	b := &patchBatch{}
	b.replace(RunHead(r), StateAnnouncement(r), DeleteLink(r), DroppedNote(r))
	b.add("#timeline", "inner", Rows(r))
	b.replace(ProgressBar(r.Progress), dock(r, false))
	b.patchPositions(r)
	if r.State.Ended() {
		b.add("#live", "remove", nil)
	}
	return b.patches
}

// isLive reports whether a page of a run in this state receives patches.
func isLive(s engine.State) bool { return !s.Ended() }

// concat returns a component that renders components in order.
func concat(cs ...templ.Component) templ.Component {
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

// escapedText returns a component that renders escaped text.
func escapedText(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(s))
		return err
	})
}
