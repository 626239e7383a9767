package timeline

import (
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
)

// Limits on what is kept of a run. What is dropped is counted.
const (
	maxDroppable        = 500 // statuses, log lines, chunks, toasts, steps and unknown entries
	maxArtifacts        = 200
	maxBodyBytes        = 8 << 20   // of all artifacts' bodies
	maxChunkBytes       = 256 << 10 // of all streamed text
	chunkBytesAfterTrim = 192 << 10 // of all streamed text once it exceeded maxChunkBytes
)

// addItem appends an item, and drops the oldest of its class if there are too many.
func (r *Run) addItem(i *Item) Change {
	c := Change{Item: i, Added: true}
	if r.latest != nil {
		i.SameInstant = r.tenthsSinceStart(i.Time) == r.tenthsSinceStart(r.latest.Time)
	}
	r.latest = i
	if r.window != nil {
		r.addToWindow(i)
		return c
	}
	r.Items = append(r.Items, i)
	switch {
	case i.Kind.droppable():
		if r.droppableCount++; r.droppableCount > maxDroppable {
			r.droppableCount--
			c.Dropped = r.dropOldest(&r.firstDroppable, Kind.droppable)
		}
	case i.Kind == Artifact:
		if r.artifactCount++; r.artifactCount > maxArtifacts {
			r.artifactCount--
			c.Dropped = r.dropOldest(&r.firstArtifact, func(k Kind) bool { return k == Artifact })
		}
	}
	return c
}

// tenthsSinceStart returns how many tenths of a second into the run t is.
func (r *Run) tenthsSinceStart(t time.Time) int64 {
	return int64(t.Sub(r.Started).Round(100*time.Millisecond) / (100 * time.Millisecond))
}

// dropOldest removes the oldest item whose kind matches and returns its ordinal. No
// matching item precedes *from, which it advances.
func (r *Run) dropOldest(from *int, matches func(Kind) bool) uint64 {
	n := *from
	for !matches(r.Items[n].Kind) {
		n++
	}
	i := r.Items[n]
	copy(r.Items[n:], r.Items[n+1:])
	r.Items[len(r.Items)-1] = nil
	r.Items = r.Items[:len(r.Items)-1]
	*from = n
	for _, other := range []*int{&r.firstDroppable, &r.firstArtifact} {
		if *other > n {
			*other--
		}
	}
	r.forget(i)
	if r.openStatus == i {
		r.openStatus = nil
	}
	return i.Seq
}

// remove uncounts an item that is removed from the listed ones.
func (r *Run) remove(i *Item) {
	switch {
	case i.Kind.droppable():
		r.droppableCount--
	case i.Kind == Artifact:
		r.artifactCount--
	}
	r.firstDroppable, r.firstArtifact = 0, 0
	r.uncountBytes(i)
	if r.openStatus == i {
		r.openStatus = nil
	}
}

// forget counts an item that is no longer listed.
func (r *Run) forget(i *Item) {
	r.DroppedItems++
	r.CompleteAfter = max(r.CompleteAfter, i.Seq)
	r.uncountBytes(i)
}

func (r *Run) uncountBytes(i *Item) {
	r.chunkBytes -= len(i.text)
	if i.Artifact != nil {
		r.bodyBytes -= len(i.Artifact.Body)
	}
}

// appendable returns text if a page can show it after what it has of a chunk, and otherwise
// nothing: what is invisible is marked or not by what stands beside it.
func appendable(before []byte, text string) string {
	_, n := utf8.DecodeLastRune(before)
	if joined := string(before[len(before)-n:]) + text; cleantext.Text(joined) != joined {
		return ""
	}
	return text
}

// appendChunkText appends text to a chunk and returns the chunks that it had to trim
// to stay within the limit.
func (r *Run) appendChunkText(i *Item, text string) (shortened []*Item) {
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
func (r *Run) trimChunk(i *Item, n int) {
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
func (r *Run) limitBody(a *generators.Artifact) {
	if a.Size == 0 {
		a.Size = int64(len(a.Body))
	}
	if most := r.maxBodyBytes(); r.bodyBytes+len(a.Body) > most {
		a.Body = nil
	}
	r.bodyBytes += len(a.Body)
}
