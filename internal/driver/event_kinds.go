package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/call"
)

// eventKind describes one kind of event that a log records.
type eventKind struct {
	name string
	// newEvent returns an empty event of the kind for Decode to fill in.
	newEvent func() generators.Event
	// normalize returns what Encode marshals for e, within the limits of an
	// entry. It reports false if e is not of this kind.
	normalize func(e generators.Event) (any, bool)
}

// eventKinds lists every kind once. [Kinds], [Encode] and [Decode] read it; a new
// kind is a type in package generators and an entry here.
var eventKinds = []eventKind{
	newEventKind("status", func(e *generators.StatusEvent) any {
		return generators.StatusEvent{Level: orInfo(e.Level), Text: call.TruncateText(e.Text)}
	}),
	newEventKind("progress", func(e *generators.ProgressEvent) any {
		return generators.ProgressEvent{Done: finiteOrZero(e.Done), Total: finiteOrZero(e.Total), Text: call.TruncateText(e.Text)}
	}),
	newEventKind("log", func(e *generators.LogEvent) any {
		return generators.LogEvent{Level: orInfo(e.Level), Logger: call.TruncateText(e.Logger), Data: encodeLogData(e.Data)}
	}),
	newEventKind("chunk", func(e *generators.ChunkEvent) any { return generators.ChunkEvent{Text: call.TruncateText(e.Text)} }),
	newEventKind("toast", func(e *generators.ToastEvent) any {
		return generators.ToastEvent{Level: orInfo(e.Level), Text: call.TruncateText(e.Text)}
	}),
	newEventKind("artifact", func(e *generators.Artifact) any { return normalized(e) }),
	newEventKind("stepped", func(e *generators.Stepped) any { return e }),
	newEventKind("result", func(e *generators.Result) any { return e }),
}

func newEventKind[E any, P interface {
	*E
	generators.Event
}](name string, normalize func(P) any) eventKind {
	return eventKind{
		name:     name,
		newEvent: func() generators.Event { return P(new(E)) },
		normalize: func(e generators.Event) (any, bool) {
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
// truncates longer text and says so. Long content belongs in an artifact.
const MaxText = call.MaxText

var (
	errUnknownEventType = errors.New("the type is unknown")
	errUnknownEventKind = errors.New("only Decode makes such an event")
)

// UnknownEvent is a recorded event whose kind this version of Beam doesn't
// know. Only [Decode] makes one; surfaces show its data as JSON. A generator
// can't yield one: [Encode] refuses it.
type UnknownEvent struct {
	generators.Event // nil
	Kind             string
	Data             json.RawMessage // valid JSON; nil if nothing was recorded
}

// Encode returns an event's kind and its JSON. It truncates text longer than
// [MaxText], replaces an unknown level by Info, and writes log data that JSON
// can't represent as package fmt prints it. A [Call] has no encoding of its own:
// the driver of a run records it.
func Encode(e generators.Event) (kind string, data json.RawMessage, err error) {
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
	if a, ok := e.(*generators.Artifact); ok && err == nil {
		err = call.Hooks.ArtifactError(a)
	}
	if err != nil {
		return "", nil, fmt.Errorf("generators: an event of type %T has no encoding: %w", e, err)
	}
	return kind, data, nil
}

// Decode is the inverse of [Encode]. Numbers in log data become json.Number. An
// event of a kind that is not in [Kinds] becomes an [*UnknownEvent]. It
// returns an error if data isn't JSON or doesn't match its kind.
func Decode(kind string, data json.RawMessage) (generators.Event, error) {
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
