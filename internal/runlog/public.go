package runlog

import (
	"bytes"
	"encoding/json"
)

// Public returns the entry as it is told to the run's owner: without what concerns only
// the engine. It reports false for an entry that is not told.
func (e Entry) Public() (Entry, bool) {
	var hidden string
	switch e.Kind {
	case KindClaimed:
		return e, false
	case KindAnswered:
		hidden = "sealed"
	case KindStepped:
		hidden = "value"
	default:
		return e, true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(e.Data, &members) != nil {
		return e, false // of another version of Beam
	}
	if members[hidden] == nil {
		return e, true
	}
	delete(members, hidden)
	return NewEntry(e.Kind, members).at(e), true
}

// WithoutPanic returns the entry without what the run's tool panicked with.
func (e Entry) WithoutPanic() Entry {
	if !bytes.Contains(e.Data, []byte(`"panic":`)) {
		return e
	}
	f, err := Decode[Finished](e)
	if err != nil || f.Panic == "" {
		return e
	}
	f.Panic = ""
	return NewEntry(e.Kind, f).at(e)
}

// at returns the entry with the place of another.
func (e Entry) at(place Entry) Entry {
	e.Seq, e.Time, e.Goroutine = place.Seq, place.Time, place.Goroutine
	e.decoded = nil
	return e
}
