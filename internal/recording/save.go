package recording

import (
	"bytes"
	"encoding/json"
	"time"
)

// The pace at which recordings are stored. It bounds the time that this takes, however many
// runs there are: what it can't keep up with stays in memory as long as there is room.
const (
	saveDelay  = 5 * time.Second // from a message until it is stored, if the pace allows it
	saveEvery  = time.Second     // from one round to the next
	saveRuns   = 20              // in a round
	saveBytes  = 1 << 20         // in a round, after which no more begins
	saveRetry  = time.Minute     // from a round that failed to the next
	closeRuns  = 500             // when the recorder is closed
	closeBytes = maxMemory       // when the recorder is closed
)

// saveLater has a recording stored. Callers hold mu.
func (r *Recorder) saveLater(rec *recording) {
	if r.store == nil || rec.unsaved != nil {
		return
	}
	rec.unsaved, rec.since = r.unsaved.PushBack(rec), time.Now()
	if r.timer == nil {
		r.timer = time.AfterFunc(saveDelay, r.saveRound)
	}
}

// saved takes a recording from those to store. Callers hold mu.
func (r *Recorder) saved(rec *recording) {
	if rec.unsaved != nil {
		r.unsaved.Remove(rec.unsaved)
		rec.unsaved = nil
	}
}

// saveRound stores what is due, as far as the pace allows it, and sets the timer for the
// rest.
func (r *Recorder) saveRound() {
	err := r.save(saveRuns, saveBytes, time.Now().Add(-saveDelay))
	r.mu.Lock()
	defer r.mu.Unlock()
	switch first := r.unsaved.Front(); {
	case first == nil || r.closed:
		r.timer = nil
	case err != nil:
		r.timer.Reset(saveRetry)
	default:
		r.timer.Reset(max(saveEvery, time.Until(first.Value.(*recording).since.Add(saveDelay))))
	}
}

// save stores recordings that became unsaved before a time, up to a number of runs and of
// bytes. After an error, which it logs, it stores no more.
func (r *Recorder) save(runs, size int, before time.Time) error {
	for ; runs > 0 && size > 0; runs-- {
		n, err := r.saveFirst(before)
		if err != nil {
			r.logger.Warn("storing the messages of runs; what follows is tried later", "err", err)
			return err
		}
		if n == 0 {
			break
		}
		size -= n
	}
	return nil
}

// Close stores what isn't stored yet, if it isn't very much. Then the store isn't used any
// more for what is recorded.
func (r *Recorder) Close() {
	r.mu.Lock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	_ = r.save(closeRuns, closeBytes, time.Now().Add(time.Hour)) // it is logged
	r.reading.Lock()                                             // a round may be writing
	defer r.reading.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.unsaved.Front(); e != nil; e = r.unsaved.Front() {
		r.saved(e.Value.(*recording))
	}
}

// saveFirst stores the recording that has been unsaved for longest, if it became so before a
// time, and returns its size; 0 if there is none. One that can't be stored is tried again
// after its next message.
func (r *Recorder) saveFirst(before time.Time) (size int, err error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	rec, n := r.takeFirst(before)
	if rec == nil {
		return 0, nil
	}
	if err := r.read(rec, n); err != nil {
		r.logger.Warn("reading the recorded messages of a run", "run", rec.run, "err", err)
	}
	if size, err = r.write(rec); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	stored := rec.lost // what the numbers in the store tell now
	if r.runs[rec.run] == rec {
		rec.unstored -= n.unstored
	} else {
		stored += n.unstored // has been evicted and counted as lost meanwhile
	}
	rec.lost = 0
	if r.lost[rec.run] -= min(stored, r.lost[rec.run]); r.lost[rec.run] == 0 {
		delete(r.lost, rec.run)
	}
	return max(size, 1), nil
}

// write stores what the store lacks of a recording, and returns how many bytes that were.
// Callers hold reading.
func (r *Recorder) write(rec *recording) (size int, err error) {
	messages, replaces := rec.toStore()
	lines, err := encode(messages)
	if err != nil {
		return 0, err
	}
	write := r.store.AppendMessages
	if replaces {
		write, rec.size = r.store.WriteMessages, 0
	}
	rec.stored = 0 // unless it succeeds
	if err := write(rec.run, lines); err != nil {
		return 0, err
	}
	rec.stored, rec.size = rec.lastSeq, rec.size+len(lines)
	return len(lines), nil
}

// takeFirst takes the recording that has been unsaved for longest, if it became so before a
// time, from those to store, with what was noted; nil if there is none.
func (r *Recorder) takeFirst(before time.Time) (*recording, news) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.unsaved.Front(); e != nil; e = r.unsaved.Front() {
		rec := e.Value.(*recording)
		switch {
		case !r.exists(rec.run):
			r.remove(rec)
		case rec.since.After(before):
			return nil, news{}
		default:
			r.saved(rec)
			return rec, r.take(rec)
		}
	}
	return nil, news{}
}

// encode encodes messages, one a line.
func encode(messages []Message) ([]byte, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for i := range messages {
		if err := encoder.Encode(&messages[i]); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}
