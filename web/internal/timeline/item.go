package timeline

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// Kind is the kind of an [Item].
type Kind string

// The kinds of items that aren't of events.
const (
	Start  Kind = "start"  // how the run was started, with its arguments
	Step   Kind = "step"   // a recorded side effect
	Asked  Kind = "ask"    // a question and, once given, its answer
	Reply  Kind = "reply"  // the call of a model for a question, and its reply
	Result Kind = "result" // how the run ended
)

// droppable reports whether items of this kind are dropped, oldest first, when there
// are too many.
func (k Kind) droppable() bool {
	switch k {
	case Start, Asked, Reply, Result: // there are few
		return false
	case Artifact: // these have a limit of their own
		return false
	}
	return true
}

// An Item is one row of the timeline. Later entries may change it.
type Item struct {
	Seq  uint64 // of its first entry
	Time time.Time
	Kind Kind
	// SameInstant reports that the item happened in the same tenth of a second as the
	// row before it, which is as finely as the page shows time.
	SameInstant bool

	Level generators.Level // of a status, log line, toast or step
	Text  string           // of a status, toast or step; the surface of a start; the error of a result; the kind of an unknown entry
	Count int              // how many equal statuses the row stands for; 0 and 1 both mean one
	Ended time.Time        // of a status: when it stopped being current; zero while it is

	ReplayOf string       // of a start: the run whose answers this one gets; empty for none
	Fork     *runlog.Fork // of a start: from where the run was forked; nil for none
	Taken    bool         // of a step: the outcome is an earlier run's
	Differs  string       // of a step or a sleep; see runlog.Asked

	Logger string          // of a log line
	Data   json.RawMessage // of a log line or an unknown entry; a start's arguments; a result's value

	State     engine.State            // of a result: how the run ended
	Reason    runlog.UnansweredReason // of the result of an unanswered run
	MediaType string                  // of a result that is a text in a language
	Large     bool                    // the data is too large to be in Data
	Size      int64                   // of a large result, in bytes
	Preview   string                  // the beginning of a large result
	Panic     string                  // what the tool panicked with, and where; see [runlog.Finished]

	Artifact *generators.Artifact
	Ask      *Ask   // of a question or a reply
	Reply    *Model // of a reply

	goroutine, step string // that it comes from; see [runlog.Entry]
	unlisted        bool   // it is not among the run's items
	text            []byte // of a chunk or a reply
	CutBytes        int    // how many bytes were cut from the beginning of a chunk's text
}

// continues reports whether an entry comes from the same goroutine and step as the item.
func (i *Item) continues(e runlog.Entry) bool { return i.goroutine == e.Goroutine && i.step == e.Step }

// Duration returns how long a status was in effect, or 0 if that was too short to show.
func (i *Item) Duration() time.Duration {
	if d := i.Ended.Sub(i.Time); i.Kind == Status && !i.Ended.IsZero() && d >= minShownDuration {
		return d
	}
	return 0
}

// minShownDuration is the shortest duration of a status that is shown.
const minShownDuration = 100 * time.Millisecond

// ID returns the item's id in a document: "e-" and the ordinal of its first entry.
func (i *Item) ID() string { return "e-" + strconv.FormatUint(i.Seq, 10) }

// ChunkText returns what was kept of the text of a chunk or a reply.
func (i *Item) ChunkText() string { return string(i.text) }

// ChunkLen returns the length of [Item.ChunkText] in bytes.
func (i *Item) ChunkLen() int { return len(i.text) }

// Progress is a run's progress.
type Progress struct {
	Done, Total float64 // a Total of 0 means unknown
	Text        string
	Updated     time.Time
}

// Fraction returns the completed share, from 0 to 1; ok is false if the total is unknown.
func (p *Progress) Fraction() (f float64, ok bool) {
	if p.Total <= 0 {
		return 0, false
	}
	return min(max(p.Done/p.Total, 0), 1), true
}
