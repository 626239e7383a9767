package timeline

import (
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
)

// What is kept of a run. The rest is counted.
const (
	maxPlain     = 500       // statuses, log lines, chunks, toasts and steps
	maxArtifacts = 200       //
	maxBodies    = 8 << 20   // of all artifacts' bodies, in bytes
	maxChunks    = 256 << 10 // of all streamed text, in bytes
	keepChunks   = 192 << 10 // what is left of it when it was too much
)

// add appends an item and drops the oldest of its sort if there are too many.
func (r *Run) add(i *Item) Change {
	c := Change{Item: i, Added: true}
	if n := len(r.Items); n > 0 {
		i.Same = r.tenth(i.Time) == r.tenth(r.Items[n-1].Time)
	}
	r.Items = append(r.Items, i)
	switch {
	case i.Kind.plain():
		if r.plain++; r.plain > maxPlain {
			r.plain--
			c.Dropped = r.drop(&r.oldPlain, Kind.plain)
		}
	case i.Kind == Artifact:
		if r.artifacts++; r.artifacts > maxArtifacts {
			r.artifacts--
			c.Dropped = r.drop(&r.oldArtifact, func(k Kind) bool { return k == Artifact })
		}
	}
	return c
}

// tenth is how many tenths of a second into the run something came.
func (r *Run) tenth(t time.Time) int64 {
	return int64(t.Sub(r.Started).Round(100*time.Millisecond) / (100 * time.Millisecond))
}

// drop removes the oldest item of some kinds and returns its ordinal. No such
// item stands before *from, which moves on.
func (r *Run) drop(from *int, kinds func(Kind) bool) uint64 {
	n := *from
	for !kinds(r.Items[n].Kind) {
		n++
	}
	i := r.Items[n]
	copy(r.Items[n:], r.Items[n+1:])
	r.Items[len(r.Items)-1] = nil
	r.Items = r.Items[:len(r.Items)-1]
	*from = n
	for _, other := range []*int{&r.oldPlain, &r.oldArtifact} {
		if *other > n {
			*other--
		}
	}
	r.Hidden++
	if r.phase == i {
		r.phase = nil
	}
	r.chunked -= len(i.text)
	if i.Artifact != nil {
		r.bodies -= len(i.Artifact.Body)
	}
	return i.Seq
}

// grow adds text to a chunk and returns the item that had to be shortened for
// it, if any.
func (r *Run) grow(i *Item, text string) (shortened []*Item) {
	i.text = append(i.text, text...)
	r.chunked += len(text)
	if r.chunked <= maxChunks {
		return nil
	}
	for _, old := range r.Items {
		if old.Kind != Chunk || len(old.text) == 0 {
			continue
		}
		r.shorten(old, r.chunked-keepChunks)
		shortened = append(shortened, old)
		if r.chunked <= keepChunks {
			break
		}
	}
	return shortened
}

// shorten cuts n bytes, at a character's end, off a chunk's beginning.
func (r *Run) shorten(i *Item, n int) {
	n = min(n, len(i.text))
	for n < len(i.text) && !utf8.RuneStart(i.text[n]) {
		n++
	}
	i.text = append([]byte(nil), i.text[n:]...)
	i.Cut += n
	r.chunked -= n
}

// admit leaves out an artifact's body if there are too many bytes of them: it
// can still be downloaded.
func (r *Run) admit(a *generators.Artifact) {
	if a.Size == 0 {
		a.Size = int64(len(a.Body))
	}
	if r.bodies+len(a.Body) > maxBodies {
		a.Body = nil
	}
	r.bodies += len(a.Body)
}

// clip cuts text to n bytes, at a character's end.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}
