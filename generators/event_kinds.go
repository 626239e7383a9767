package generators

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// eventKind describes one kind of event that a log records.
type eventKind struct {
	name string
	// newEvent returns an empty event of the kind for Decode to fill in.
	newEvent func() Event
	// normalize returns what Encode marshals for e, within the limits of an
	// entry. It reports false if e is not of this kind.
	normalize func(e Event) (any, bool)
}

func newEventKind[E any, P interface {
	*E
	Event
}](name string, normalize func(P) any) eventKind {
	return eventKind{
		name:     name,
		newEvent: func() Event { return P(new(E)) },
		normalize: func(e Event) (any, bool) {
			p, ok := e.(P)
			if !ok {
				return nil, false
			}
			return normalize(p), true
		},
	}
}

// Kinds returns the kinds of events that a log records, as [Encode] names them.
// The set is closed: every surface has a rendering for each.
func Kinds() []string {
	names := make([]string, len(eventKinds))
	for i, k := range eventKinds {
		names[i] = k.name
	}
	return names
}

// MaxText is the maximum length of an event's text, in bytes. [Encode]
// truncates longer text and says so. Long content belongs in an [Artifact].
const MaxText = 16 << 10

var (
	errUnknownEventType = errors.New("the type is unknown")
	errUnknownEventKind = errors.New("only Decode makes such an event")
)

// Encode returns an event's kind and its JSON. It truncates text longer than
// [MaxText], replaces an unknown level by Info, and writes log data that JSON
// can't represent as package fmt prints it. A [Call] has no encoding of its own:
// the driver of a run records it.
func Encode(e Event) (kind string, data json.RawMessage, err error) {
	if v := reflect.ValueOf(e); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "", nil, fmt.Errorf("generators: a nil event (%T) has no encoding", e)
	}
	err = errUnknownEventType
	if _, unknown := e.(*UnknownEvent); unknown {
		err = errUnknownEventKind
	}
	for _, k := range eventKinds {
		if v, ok := k.normalize(e); ok {
			kind = k.name
			data, err = json.Marshal(v)
			break
		}
	}
	if a, ok := e.(*Artifact); ok && err == nil {
		err = a.check()
	}
	if err != nil {
		return "", nil, fmt.Errorf("generators: an event of type %T has no encoding: %w", e, err)
	}
	return kind, data, nil
}

// Decode is the inverse of [Encode]. Numbers in log data become json.Number. An
// event of a kind that is not in [Kinds] becomes an [*UnknownEvent]. It
// returns an error if data isn't JSON or doesn't match its kind.
func Decode(kind string, data json.RawMessage) (Event, error) {
	for _, k := range eventKinds {
		if k.name != kind {
			continue
		}
		e := k.newEvent()
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		if err := dec.Decode(e); err != nil {
			return nil, fmt.Errorf("generators: event of kind %q: %w", kind, err)
		}
		return e, nil
	}
	if len(data) > 0 && !json.Valid(data) {
		return nil, fmt.Errorf("generators: event of the unknown kind %q: its data is not valid JSON", kind)
	}
	return &UnknownEvent{Kind: kind, Data: data}, nil
}
