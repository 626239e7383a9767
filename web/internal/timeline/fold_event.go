package timeline

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/runlog"
)

// The kinds of items of events.
const (
	Status   Kind = "status"   // a sentence about the run's current activity
	Log      Kind = "log"      // a log line
	Chunk    Kind = "chunk"    // streamed text
	Toast    Kind = "toast"    // a brief notification
	Artifact Kind = "artifact" // something the run made
	Unknown  Kind = "unknown"  // an entry of a kind that this version doesn't know
)

// events maps every kind of event to the method that folds it into a run.
var events = map[runlog.Kind]func(*fold, runlog.Entry) error{
	"status":   decoded((*fold).status),
	"progress": decoded((*fold).progress),
	"log":      decoded((*fold).log),
	"chunk":    decoded((*fold).chunk),
	"toast":    decoded((*fold).toast),
	"artifact": decoded((*fold).artifact),
	"result":   (*fold).unknown, // a log records a result as its end
}

// decoded adapts a fold over an event's decoded data.
func decoded[T any](apply func(*fold, runlog.Entry, T)) func(*fold, runlog.Entry) error {
	return func(f *fold, e runlog.Entry) error {
		var data T
		if len(e.Data) > 0 {
			if err := json.Unmarshal(e.Data, &data); err != nil {
				return err
			}
		}
		apply(f, e, data)
		return nil
	}
}

// Event shows an event of an unknown kind as JSON.
func (f *fold) Event(e runlog.Entry) error {
	if apply, ok := events[e.Kind]; ok {
		return apply(f, e)
	}
	return f.unknown(e)
}

func (f *fold) unknown(e runlog.Entry) error {
	f.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Unknown, Text: string(e.Kind), Data: e.Data, Large: e.Blob != ""})
	return nil
}

func (f *fold) status(e runlog.Entry, d generators.StatusEvent) {
	if i := f.latest; i != nil && i.Kind == Status && i.Text == d.Text && i.Level == d.Level && i.continues(e) {
		i.Count = max(i.Count, 1) + 1
		f.Item = i
		return
	}
	f.endStatus(e.Time)
	f.openStatus = f.addStatus(e, d.Level, d.Text)
}

func (f *fold) progress(e runlog.Entry, d generators.ProgressEvent) {
	f.Progress = &Progress{Done: d.Done, Total: d.Total, Text: d.Text, Updated: e.Time}
	f.ProgressChanged = true
}

func (f *fold) log(e runlog.Entry, d struct {
	Level  generators.Level `json:"level"`
	Logger string           `json:"logger"`
	Data   json.RawMessage  `json:"data"`
}) {
	f.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Log, Level: d.Level, Logger: d.Logger, Data: d.Data})
}

func (f *fold) chunk(e runlog.Entry, d generators.ChunkEvent) {
	if f.latest != nil && f.latest.Kind == Chunk && f.latest.continues(e) {
		f.appendText(f.latest, d.Text)
		return
	}
	f.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Chunk})
	f.AlsoChanged = f.appendChunkText(f.Item, d.Text)
}

// appendText appends a text to a chunk or a reply, which is what the entry has changed.
func (f *fold) appendText(i *Item, text string) {
	f.Item, f.Appended = i, appendable(i.text, text)
	if f.AlsoChanged = f.appendChunkText(i, text); slices.Contains(f.AlsoChanged, i) {
		f.Appended = "" // its beginning was cut
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

func (f *fold) toast(e runlog.Entry, d generators.ToastEvent) {
	f.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Toast, Level: d.Level, Text: d.Text})
}

func (f *fold) artifact(e runlog.Entry, d generators.Artifact) {
	f.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Artifact, Artifact: &d, Large: e.Blob != ""})
	if !f.Item.unlisted {
		f.limitBody(&d)
	}
}
