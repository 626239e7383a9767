package timeline

import (
	"slices"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
)

// Limits on what is kept of a run. What is dropped is counted.
const (
	maxDroppable        = 500 // statuses, log lines, chunks, toasts, steps and unknown entries
	maxArtifacts        = 200
	maxBodyBytes        = 8 << 20   // of all artifacts' bodies
	maxChunkBytes       = 256 << 10 // of all streamed text
	chunkBytesAfterTrim = 192 << 10 // of all streamed text once it exceeded maxChunkBytes
)

// Rows are the items of a run, of which a limited number and size is kept.
type Rows struct {
	Items        []*Item // ordered by their first entries
	DroppedItems int     // how many items before the listed ones aren't listed
	LaterItems   int     // how many items after a window aren't listed
	// CompleteAfter is the ordinal of the newest item that was dropped: all after it are
	// listed, up to the end of a window.
	CompleteAfter uint64

	window         *Window // nil if the latest items are kept
	droppableCount int
	artifactCount  int
	bodyBytes      int // of all artifacts' bodies
	chunkBytes     int // of all chunks' text
	firstDroppable int // no droppable item precedes this index
	firstArtifact  int // no artifact precedes this index
}

// addItem appends an item, and returns the oldest of its class if that had to be dropped.
func (r *Rows) addItem(i *Item) (dropped *Item) {
	if r.window != nil {
		r.addToWindow(i)
		return nil
	}
	r.Items = append(r.Items, i)
	switch {
	case i.Kind.droppable():
		if r.droppableCount++; r.droppableCount > maxDroppable {
			r.droppableCount--
			return r.dropOldest(&r.firstDroppable, Kind.droppable)
		}
	case i.Kind == Artifact:
		if r.artifactCount++; r.artifactCount > maxArtifacts {
			r.artifactCount--
			return r.dropOldest(&r.firstArtifact, func(k Kind) bool { return k == Artifact })
		}
	}
	return nil
}

// dropOldest removes the oldest item whose kind matches and returns it. No
// matching item precedes *from, which it advances.
func (r *Rows) dropOldest(from *int, matches func(Kind) bool) *Item {
	n := *from
	for !matches(r.Items[n].Kind) {
		n++
	}
	i := r.Items[n]
	r.Items = slices.Delete(r.Items, n, n+1)
	*from = n
	for _, other := range []*int{&r.firstDroppable, &r.firstArtifact} {
		if *other > n {
			*other--
		}
	}
	r.forget(i)
	return i
}

// removeStep removes the items of a step, and returns them.
func (r *Rows) removeStep(key string) (removed []*Item) {
	r.Items = slices.DeleteFunc(r.Items, func(i *Item) bool {
		if i.step != key {
			return false
		}
		switch {
		case i.Kind.droppable():
			r.droppableCount--
		case i.Kind == Artifact:
			r.artifactCount--
		}
		r.uncountBytes(i)
		removed = append(removed, i)
		return true
	})
	r.firstDroppable, r.firstArtifact = 0, 0
	return removed
}

// forget counts an item that is no longer listed.
func (r *Rows) forget(i *Item) {
	r.DroppedItems++
	r.CompleteAfter = max(r.CompleteAfter, i.Seq)
	r.uncountBytes(i)
}

func (r *Rows) uncountBytes(i *Item) {
	r.chunkBytes -= len(i.text)
	if i.Artifact != nil {
		r.bodyBytes -= len(i.Artifact.Body)
	}
}

// appendChunkText appends text to a chunk and returns the chunks that it had to trim
// to stay within the limit.
func (r *Rows) appendChunkText(i *Item, text string) (shortened []*Item) {
	if i.unlisted {
		return nil
	}
	i.text = append(i.text, text...)
	r.chunkBytes += len(text)
	if r.chunkBytes <= maxChunkBytes || r.window != nil && r.window.Whole {
		return nil
	}
	for _, old := range r.Items {
		if len(old.text) == 0 {
			continue
		}
		r.trimChunk(old, r.chunkBytes-chunkBytesAfterTrim)
		shortened = append(shortened, old)
		if r.chunkBytes <= chunkBytesAfterTrim {
			break
		}
	}
	return shortened
}

// trimChunk cuts at least n bytes, up to a character boundary, from the beginning of a chunk.
func (r *Rows) trimChunk(i *Item, n int) {
	n = min(n, len(i.text))
	for n < len(i.text) && !utf8.RuneStart(i.text[n]) {
		n++
	}
	i.text = append([]byte(nil), i.text[n:]...)
	i.CutBytes += n
	r.chunkBytes -= n
}

// limitBody drops an artifact's body if the run's bodies exceed their limit. The
// artifact can still be downloaded.
func (r *Rows) limitBody(a *generators.Artifact) {
	if a.Size == 0 {
		a.Size = int64(len(a.Body))
	}
	if most := r.maxBodyBytes(); r.bodyBytes+len(a.Body) > most {
		a.Body = nil
	}
	r.bodyBytes += len(a.Body)
}

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
