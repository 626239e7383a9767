package recording

import (
	"bytes"
	"container/list"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The limits of recordings.
const (
	maxMessage  = 64 << 10  // bytes of a message; what is longer is cut
	maxMessages = 1000      // of a run; the newest count
	maxBytes    = 512 << 10 // of a run
	maxMemory   = 16 << 20  // bytes of all recordings in memory; others are in the store
	maxName     = 100       // bytes of what the other end is called
	// saveDelay is how long a message may be in memory only.
	saveDelay = 5 * time.Second
)

// A Store stores recordings, each with its run.
type Store interface {
	// WriteMessages replaces the recording of a run.
	WriteMessages(run string, lines []byte) error
	// ReadMessages returns the recording of a run; nil if there is none.
	ReadMessages(run string) ([]byte, error)
}

// MemoryOnly is a store that stores nothing: the recordings that were used longest ago are
// lost when there is no room for them in memory.
var MemoryOnly Store = memoryOnly{}

type memoryOnly struct{}

func (memoryOnly) WriteMessages(string, []byte) error  { return nil }
func (memoryOnly) ReadMessages(string) ([]byte, error) { return nil, nil }

// A Recorder records messages. Its methods may be called from several goroutines.
type Recorder struct {
	store  Store
	exists func(run string) bool
	logger *slog.Logger

	saving sync.Mutex // held while a recording is written, before mu

	mu     sync.Mutex
	runs   map[string]*list.Element // their values are recordings
	recent *list.List               // the recording that was used last comes last
	bytes  int
	timer  *time.Timer // nil unless something is unsaved
	closed bool
}

// NewRecorder returns a recorder. Exists reports whether a run exists: the recordings of
// others are forgotten.
func NewRecorder(store Store, exists func(run string) bool, logger *slog.Logger) *Recorder {
	return &Recorder{store: store, exists: exists, logger: logger, runs: make(map[string]*list.Element), recent: list.New()}
}

// Add records a message of a run. Content returns what may be kept of the message, see
// [Message]; if it returns nil, nothing is.
func (r *Recorder) Add(run string, o Observed, content func(json.RawMessage) json.RawMessage) {
	m := newMessage(&o)
	m.Time, m.Message = time.Now().Round(0), json.RawMessage(o.Data)
	if m.Kind == Invalid && !json.Valid(o.Data) {
		m.Message = rawjson.EncodeText(strings.ToValidUTF8(string(o.Data[:min(len(o.Data), maxMessage)]), "\ufffd"))
		m.Cut = m.Cut || len(o.Data) > maxMessage
	}
	if m.Message = content(m.Message); m.Message == nil {
		return
	}
	m.Message = bytes.ToValidUTF8(m.Message, []byte("\ufffd"))
	if len(m.Message) > maxMessage {
		m.Message, m.Cut = rawjson.EncodeText(strings.ToValidUTF8(string(m.Message[:maxMessage]), "")), true
	}
	m.Peer, m.Method, m.ID = line(m.Peer), line(m.Method), line(m.ID)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	rec, err := r.find(run)
	if err != nil {
		r.logger.Warn("reading the recorded messages of a run", "run", run, "err", err)
	}
	before := rec.bytes
	rec.add(m)
	rec.unsaved = true
	r.bytes += rec.bytes - before
	switch {
	case r.timer == nil:
		r.timer = time.AfterFunc(saveDelay, r.Save)
	case r.bytes > maxMemory:
		r.timer.Reset(0)
	}
}

// line returns a name of the other end's as it is shown.
func line(text string) string {
	return humanize.TruncateBytes(strings.ToValidUTF8(text, "\ufffd"), maxName, "…")
}

// find returns the recording of a run, which it reads or makes if it isn't in memory. If it
// can't be read, a new one begins. Callers hold mu.
func (r *Recorder) find(run string) (*recording, error) {
	if e := r.runs[run]; e != nil {
		r.recent.MoveToBack(e)
		return e.Value.(*recording), nil
	}
	rec, err := r.read(run)
	r.runs[run] = r.recent.PushBack(rec)
	r.bytes += rec.bytes
	return rec, err
}

// read reads the recording of a run from the store.
func (r *Recorder) read(run string) (*recording, error) {
	rec := &recording{run: run}
	raw, err := r.store.ReadMessages(run)
	for line := range bytes.Lines(raw) {
		var m Message
		if err := json.Unmarshal(line, &m); err != nil {
			return rec, errors.New("they are damaged")
		}
		if rec.lastSeq == 0 {
			rec.lastSeq = max(m.Seq, 1) - 1
		}
		rec.add(m)
	}
	return rec, err
}

// Messages returns the recorded messages of a run, oldest first. The first has a greater
// Seq than 1 if earlier ones were dropped. The error is the store's.
func (r *Recorder) Messages(run string) ([]Message, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.runs[run]; e != nil {
		return append([]Message(nil), e.Value.(*recording).messages...), nil
	}
	rec, err := r.read(run)
	return rec.messages, err
}

// Forget forgets the messages of a run that exists no more. Its caller deletes what the
// store has of it.
func (r *Recorder) Forget(run string) {
	r.saving.Lock()
	defer r.saving.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(run)
}

// remove removes a recording from memory. Callers hold mu.
func (r *Recorder) remove(run string) {
	if e := r.runs[run]; e != nil {
		r.bytes -= e.Value.(*recording).bytes
		r.recent.Remove(e)
		delete(r.runs, run)
	}
}

// Save stores what isn't stored yet, and removes from memory what was used longest ago
// and doesn't fit.
func (r *Recorder) Save() {
	r.mu.Lock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	var unsaved []string
	for e := r.recent.Front(); e != nil; e = e.Next() {
		if rec := e.Value.(*recording); rec.unsaved {
			unsaved = append(unsaved, rec.run)
		}
	}
	r.mu.Unlock()
	for _, run := range unsaved {
		r.saveRun(run)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.recent.Front(); e != nil && r.bytes > maxMemory; {
		rec := e.Value.(*recording)
		if e = e.Next(); !rec.unsaved {
			r.remove(rec.run)
		}
	}
}

// Close stores what isn't stored yet. Then the store isn't used any more, and nothing is
// recorded.
func (r *Recorder) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.Save()
	r.saving.Lock() // another Save may be writing
	defer r.saving.Unlock()
}

// saveRun stores the recording of a run, unless another has meanwhile. One that can't be
// stored is kept until there is no room for it.
func (r *Recorder) saveRun(run string) {
	r.saving.Lock()
	defer r.saving.Unlock()
	exists := r.exists(run)
	r.mu.Lock()
	e := r.runs[run]
	switch {
	case e == nil:
		r.mu.Unlock()
		return
	case !exists:
		r.remove(run)
		r.mu.Unlock()
		return
	}
	rec := e.Value.(*recording)
	if !rec.unsaved {
		r.mu.Unlock()
		return
	}
	rec.unsaved = false
	messages := append([]Message(nil), rec.messages...)
	r.mu.Unlock()
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	var err error
	for _, m := range messages {
		err = errors.Join(err, encoder.Encode(m))
	}
	if err = errors.Join(err, r.store.WriteMessages(run, lines.Bytes())); err != nil {
		r.logger.Warn("storing the messages of a run", "run", run, "err", err)
	}
}
