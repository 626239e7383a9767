package timeline

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

// Kind says what an [Item] is.
type Kind string

// The kinds of items.
const (
	Start    Kind = "start"    // who started the run, and with what
	Status   Kind = "status"   // a sentence about what is going on
	Log      Kind = "log"      // a log line
	Chunk    Kind = "chunk"    // streamed text
	Toast    Kind = "toast"    // a passing notice
	Step     Kind = "step"     // a recorded side effect
	Artifact Kind = "artifact" // something that was made
	Asked    Kind = "ask"      // a question and, in time, its answer
	Result   Kind = "result"   // how the run ended
)

// droppable tells which kinds are dropped, oldest first, when there are too many.
func (k Kind) droppable() bool {
	return k == Status || k == Log || k == Chunk || k == Toast || k == Step
}

// An Item is one row of the timeline. Later entries may change it.
type Item struct {
	Seq  uint64 // of its first entry
	Time time.Time
	Kind Kind
	// SameInstant says that it came with the row before, as far as clocks are shown: in
	// the same tenth of a second.
	SameInstant bool

	Level generators.Level // of a status, log line, toast or step
	Text  string           // of a status, toast or step; the surface of a start; the error of a result
	Count int              // how many equal statuses this stands for; 0 and 1 are one
	Ended time.Time        // of a status: when what it says was over; zero while it goes on

	Logger string          // of a log line
	Data   json.RawMessage // of a log line; a start's arguments; a result's value

	State engine.State // of a result: how the run ended
	Large bool         // its data was too large to be here

	Artifact *generators.Artifact
	Ask      *Ask

	text     []byte // of a chunk
	CutBytes int    // how many bytes of a chunk's text, from its beginning, were not kept
}

// Duration is how long what a status says went on, if that is long enough to be
// told, and else 0.
func (i *Item) Duration() time.Duration {
	if d := i.Ended.Sub(i.Time); i.Kind == Status && !i.Ended.IsZero() && d >= minShownDuration {
		return d
	}
	return 0
}

// minShownDuration is the shortest phase that is told.
const minShownDuration = 100 * time.Millisecond

// ID is the item's id in a document: e-, and the ordinal of its first entry.
func (i *Item) ID() string { return "e-" + strconv.FormatUint(i.Seq, 10) }

// ChunkText is what is kept of a chunk's text.
func (i *Item) ChunkText() string { return string(i.text) }

// ChunkLen is the length of [Item.ChunkText] in bytes.
func (i *Item) ChunkLen() int { return len(i.text) }

// Progress is how far a run has come.
type Progress struct {
	Done, Total float64 // a Total of 0 means that nobody knows
	Text        string
	Updated     time.Time
}

// Fraction is how much is done, from 0 to 1; ok is false if nobody knows.
func (p *Progress) Fraction() (f float64, ok bool) {
	if p.Total <= 0 {
		return 0, false
	}
	return min(max(p.Done/p.Total, 0), 1), true
}
