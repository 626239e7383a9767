package recording

import (
	"bytes"
	"container/list"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// The limits of recordings.
const (
	maxMessage  = 64 << 10  // bytes of a message; what is longer is cut
	maxMessages = 1000      // of a run; the newest count
	maxBytes    = 512 << 10 // of a run
	maxMemory   = 16 << 20  // bytes of all recordings in memory
	maxName     = 100       // bytes of what the other end is called
)

// A Store stores recordings, each with its run.
type Store interface {
	// WriteMessages replaces the recording of a run.
	WriteMessages(run string, lines []byte) error
	// AppendMessages adds to a recording that WriteMessages has written. After an error, a
	// part of the lines may be there.
	AppendMessages(run string, lines []byte) error
	// ReadMessages returns the recording of a run; nil if there is none.
	ReadMessages(run string) ([]byte, error)
}

// A Recorder records messages. Its methods may be called from several goroutines.
type Recorder struct {
	store  Store // nil if recordings are in memory only
	exists func(run string) bool
	logger *slog.Logger

	reading sync.Mutex // held while messages are read, and while the store is used; before mu

	mu      sync.Mutex // held for moments only: every message takes it
	runs    map[string]*recording
	recent  list.List         // the recording that was used last comes last
	unsaved list.List         // recordings to store, the first to become so first
	lost    map[string]uint64 // by run, the messages that the store lacks, and memory has no more
	bytes   int
	timer   *time.Timer // nil unless something is unsaved
	closed  bool
}

// NewRecorder returns a recorder. If store is nil, recordings are in memory only. Exists
// reports whether a run exists: the recordings of others are forgotten.
func NewRecorder(store Store, exists func(run string) bool, logger *slog.Logger) *Recorder {
	return &Recorder{store: store, exists: exists, logger: logger, runs: make(map[string]*recording), lost: make(map[string]uint64)}
}

// Add records a message of a run, whose data must not change any more. Content returns what
// may be kept of the message, see [Message]; it may be called later, and at any time.
func (r *Recorder) Add(run string, o Observed, content func(json.RawMessage) json.RawMessage) {
	n := noted{Observed: o, at: time.Now().Round(0), content: content}
	switch {
	case len(o.Data) > maxMessage: // memory has room for its beginning only
		n.read = n.message()
		n.Data = nil
	case cap(o.Data) > 2*len(o.Data)+1024:
		n.Data = bytes.Clone(o.Data)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	rec := r.runs[run]
	if rec == nil {
		rec = &recording{run: run}
		rec.recent = r.recent.PushBack(rec)
		r.runs[run] = rec
	}
	r.recent.MoveToBack(rec.recent)
	before := rec.news.bytes
	rec.note(n)
	r.weigh(rec, rec.weight+rec.news.bytes-before)
	r.saveLater(rec)
	r.evict()
}

// weigh counts what a recording takes. Callers hold mu.
func (r *Recorder) weigh(rec *recording, weight int) {
	r.bytes += weight - rec.weight
	rec.weight = weight
}

// evict removes from memory what was used longest ago and doesn't fit. What isn't stored is
// lost. Callers hold mu.
func (r *Recorder) evict() {
	for r.bytes > maxMemory && r.recent.Len() > 1 {
		rec := r.recent.Front().Value.(*recording)
		r.remove(rec)
		r.lose(rec.run, rec.unstored)
	}
}

// lose counts messages of a run that are lost, so that later ones have the right numbers.
// Callers hold mu.
func (r *Recorder) lose(run string, n uint64) {
	if n > 0 && r.exists(run) {
		r.lost[run] += n
	}
}

// remove removes a recording from memory. Callers hold mu.
func (r *Recorder) remove(rec *recording) {
	r.weigh(rec, 0)
	r.recent.Remove(rec.recent)
	delete(r.runs, rec.run)
	r.saved(rec)
}

// Messages returns the recorded messages of a run, oldest first. The first has a greater
// Seq than 1 if earlier ones were dropped. The error is the store's.
func (r *Recorder) Messages(run string) ([]Message, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.mu.Lock()
	rec := r.runs[run]
	if rec == nil {
		rec = &recording{run: run} // isn't kept: who only looks takes no room from others
	}
	news := r.take(rec)
	r.mu.Unlock()
	err := r.read(rec, news)
	return slices.Clone(rec.messages), err
}

// take takes what was noted since the last time. Callers hold mu.
func (r *Recorder) take(rec *recording) news {
	n := rec.news
	rec.news = news{}
	n.unstored, n.lost = rec.unstored, r.lost[rec.run]
	return n
}

// read adds what was noted to a recording, and before it what the store has. If that can't
// be read, the recording begins anew. Callers hold reading.
func (r *Recorder) read(rec *recording, n news) (err error) {
	if !rec.isRead {
		var stored []byte
		if r.store != nil {
			stored, err = r.store.ReadMessages(rec.run)
		}
		if damaged := rec.parse(stored, n.lost); err == nil {
			err = damaged
		}
	}
	rec.addNews(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs[rec.run] == rec {
		r.weigh(rec, rec.bytes+rec.news.bytes)
	}
	return err
}

// Forget forgets the messages of a run that exists no more. Its caller deletes what the
// store has of it: none is written any more.
func (r *Recorder) Forget(run string) {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.runs[run]; rec != nil {
		r.remove(rec)
	}
	delete(r.lost, run)
}
