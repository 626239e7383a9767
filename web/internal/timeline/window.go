package timeline

// A Window selects rows of a run, of which there may be too many for one page.
type Window struct {
	// Before and After are ordinals: the window has rows of smaller and of greater ones. If
	// there are too many, it has the last of them if Before is set, and otherwise the first.
	After, Before uint64
	// Whole makes the window as large as an export may be. Otherwise it has a page of rows.
	Whole bool
}

// Limits on a window.
const (
	rowsPerPage       = 500
	maxExportedRows   = 100_000
	maxExportedBodies = 32 << 20 // bytes
)

// NewWindow returns an empty run that keeps only the rows of a window. All else about the
// run is as without one.
func NewWindow(id string, w Window) *Run {
	r := New(id)
	r.window = &w
	return r
}

// IsWindow reports whether the run keeps only the rows of a window.
func (r *Rows) IsWindow() bool { return r.window != nil }

// addToWindow appends an item, unless it is outside the window.
func (r *Rows) addToWindow(i *Item) {
	w := r.window
	switch {
	case w.Before > 0 && i.Seq >= w.Before:
		r.hideLater(i)
		return
	case i.Seq <= w.After:
		i.unlisted = true
		r.DroppedItems++
		return
	case len(r.Items) < w.rows():
	case w.Before == 0:
		r.hideLater(i)
		return
	default:
		oldest := r.Items[0]
		r.Items[0] = nil
		r.Items = r.Items[1:]
		oldest.unlisted = true
		r.forget(oldest)
	}
	r.Items = append(r.Items, i)
}

func (r *Rows) hideLater(i *Item) {
	i.unlisted = true
	r.LaterItems++
}

func (w *Window) rows() int {
	if w.Whole {
		return maxExportedRows
	}
	return rowsPerPage
}

func (r *Rows) maxBodyBytes() int {
	if r.window != nil && r.window.Whole {
		return maxExportedBodies
	}
	return maxBodyBytes
}

// ReserveBody reports whether a body of so many bytes may be added to an artifact, and
// counts it.
func (r *Rows) ReserveBody(size int64) bool {
	if int64(r.bodyBytes)+size > int64(r.maxBodyBytes()) {
		return false
	}
	r.bodyBytes += int(size)
	return true
}
