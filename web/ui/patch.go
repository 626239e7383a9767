package ui

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/engine"
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

// maxToasts bounds the notices that one batch of changes brings up.
const maxToasts = 3

// BatchInterval is how long a page is busy with a batch of that many changes, so how
// long whoever sends them should gather what comes before sending the next.
// Patches that come faster than they can be drawn freeze the page.
func BatchInterval(changes int) time.Duration {
	const frame, row, most = 16 * time.Millisecond, 300 * time.Microsecond, 200 * time.Millisecond
	return min(frame+time.Duration(min(changes, 2000))*row, most)
}

// FramePatches returns what changes around every page as runs come and go.
func FramePatches(c Chrome) []Patch {
	b := &patchBatch{}
	b.replace(InboxLink(c), RecentRuns(c))
	return b.patches
}

// ListPatches returns what replaces a page's list: RunsList or AsksList.
func ListPatches(list templ.Component) []Patch {
	b := &patchBatch{}
	b.replace(list)
	return b.patches
}

// RunPatches returns what an open page of the run must change for a batch of
// entries that were applied to r already.
func RunPatches(r *timeline.Run, changes []timeline.Change) []Patch {
	b := newPatchBatch(changes)
	if b.stateChanged {
		b.replace(RunHead(r), StateAnnouncement(r))
	}
	b.patchRows(r)
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

// ResyncPatches returns what brings an open page of the run up to date, whatever it
// shows: for a reader that comes back. What is being typed stays.
func ResyncPatches(r *timeline.Run) []Patch {
	b := &patchBatch{}
	b.replace(RunHead(r), StateAnnouncement(r), DroppedNote(r.DroppedItems))
	b.add("#timeline", "inner", Rows(r))
	b.replace(ProgressBar(r.Progress), dock(r, false))
	b.patchPositions(r)
	if r.State.Ended() {
		b.add("#live", "remove", nil)
	}
	return b.patches
}

// isLive tells whether a page of a run in this state gets patches.
func isLive(s engine.State) bool { return !s.Ended() }

// concat renders components one after another.
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

// escapedText is escaped text.
func escapedText(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(s))
		return err
	})
}

// withoutReturns renders a component without carriage returns. They end a line of a
// server-sent event as line feeds do, but whoever splits text into lines may
// only split at the latter, and what follows would be taken for a field of its
// own, from a tool's mouth.
func withoutReturns(c templ.Component) templ.Component {
	if c == nil {
		return nil
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return c.Render(ctx, returnFilter{w})
	})
}

type returnFilter struct{ w io.Writer }

func (n returnFilter) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, '\r') < 0 {
		return n.w.Write(p)
	}
	if _, err := n.w.Write(bytes.ReplaceAll(p, []byte{'\r'}, nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}
