package generators

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// An Event is what a generator yields: a [StatusEvent], [ProgressEvent],
// [LogEvent], [ChunkEvent], [ToastEvent] or [Artifact] to be shown, a [*Call]
// to be answered, a [*Stepped] that closes a step, or, last, the [*Result].
// The set is closed: every surface knows how to show every kind.
type Event interface{ event() }

// Level says how grave a status, toast or log line is. Statuses and toasts use
// Info, Success, Warning and Error; logs use the eight levels of RFC 5424, as
// MCP's logging does.
type Level string

// The levels, mildest first.
const (
	Debug     Level = "debug"
	Info      Level = "info"
	Success   Level = "success"
	Notice    Level = "notice"
	Warning   Level = "warning"
	Error     Level = "error"
	Critical  Level = "critical"
	Alert     Level = "alert"
	Emergency Level = "emergency"
)

// orInfo is the level, or Info if it is none.
func (l Level) orInfo() Level {
	switch l {
	case Debug, Info, Success, Notice, Warning, Error, Critical, Alert, Emergency:
		return l
	}
	return Info
}

// Syslog is the level among the eight of RFC 5424, which MCP's logging has:
// those know no success.
func (l Level) Syslog() Level {
	if l == Success {
		return Notice
	}
	return l
}

type (
	// StatusEvent says in a sentence what the run is doing.
	StatusEvent struct {
		Level Level  `json:"level"`
		Text  string `json:"text"`
	}

	// ProgressEvent says how far the run has come: Done of Total, in any unit.
	// A Total of 0 means that nobody knows how much there is to do.
	ProgressEvent struct {
		Done  float64 `json:"done"`
		Total float64 `json:"total,omitempty"`
		Text  string  `json:"text,omitempty"`
	}

	// LogEvent is a structured line for whoever looks closely
	// (MCP: notifications/message).
	LogEvent struct {
		Level  Level  `json:"level"`
		Logger string `json:"logger,omitempty"`
		Data   any    `json:"data"`
	}

	// ChunkEvent is a piece of text that continues the chunk before it.
	ChunkEvent struct {
		Text string `json:"text"`
	}

	// ToastEvent is a passing notice.
	ToastEvent struct {
		Level Level  `json:"level"`
		Text  string `json:"text"`
	}

	// Result is the value that a run ends with, as JSON. The runtime yields it
	// when the generator returns; a generator never does.
	Result struct {
		Value json.RawMessage `json:"value"`
	}

	// Stepped closes a step with its recorded value or error. [Step] yields it.
	Stepped struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value,omitempty"`
		Error string          `json:"error,omitempty"`
	}
)

func (*StatusEvent) event()   {}
func (*ProgressEvent) event() {}
func (*LogEvent) event()      {}
func (*ChunkEvent) event()    {}
func (*ToastEvent) event()    {}
func (*Artifact) event()      {}
func (*Result) event()        {}
func (*Stepped) event()       {}
func (*Call) event()          {}

// Status says what is going on.
func Status(text string) Event { return &StatusEvent{Info, text} }

// Statusf is [Status] with a format.
func Statusf(format string, args ...any) Event { return Status(fmt.Sprintf(format, args...)) }

// StatusAt is a status of the given level: Info, Success, Warning or Error.
func StatusAt(level Level, text string) Event { return &StatusEvent{level, text} }

// Progress says that done of total is done. Text may be empty.
func Progress(done, total float64, text string) Event { return &ProgressEvent{done, total, text} }

// Busy is progress of which nobody knows the end.
func Busy(text string) Event { return &ProgressEvent{Text: text} }

// Log is a log line of the photon's own logger. Data is anything that
// encoding/json can encode.
func Log(level Level, data any) Event { return &LogEvent{Level: level, Data: data} }

// LogTo is [Log] under the name of a logger.
func LogTo(logger string, level Level, data any) Event { return &LogEvent{level, logger, data} }

// Chunk is the next piece of a streamed text.
func Chunk(text string) Event { return &ChunkEvent{text} }

// Toast is a passing notice.
func Toast(level Level, text string) Event { return &ToastEvent{level, text} }

// MaxText is the most bytes of text that an event carries. Longer text is cut
// and says so: what is long belongs into an [Artifact].
const MaxText = 16 << 10

// Kinds lists the kinds of events, as [Encode] names them. The set is closed:
// every surface has a rendering for each.
func Kinds() []string {
	return []string{"status", "progress", "log", "chunk", "toast", "artifact", "stepped", "result"}
}

// Encode returns an event's kind and its JSON. Text longer than [MaxText] is
// cut, an unknown level becomes Info, and log data that JSON has no form for is
// written as fmt prints it. A Call has no encoding of its own: whoever drives a
// run records it.
func Encode(e Event) (kind string, data json.RawMessage, err error) {
	if v := reflect.ValueOf(e); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "", nil, fmt.Errorf("generators: a nil event (%T) has no encoding", e)
	}
	switch e := e.(type) {
	case *StatusEvent:
		kind, data = "status", mustMarshal(StatusEvent{e.Level.orInfo(), truncateText(e.Text)})
	case *ProgressEvent:
		kind, data = "progress", mustMarshal(ProgressEvent{finiteOrZero(e.Done), finiteOrZero(e.Total), truncateText(e.Text)})
	case *LogEvent:
		kind, data = "log", mustMarshal(LogEvent{e.Level.orInfo(), truncateText(e.Logger), encodeLogData(e.Data)})
	case *ChunkEvent:
		kind, data = "chunk", mustMarshal(ChunkEvent{truncateText(e.Text)})
	case *ToastEvent:
		kind, data = "toast", mustMarshal(ToastEvent{e.Level.orInfo(), truncateText(e.Text)})
	case *Artifact:
		kind, data = "artifact", mustMarshal(e.normalized())
	case *Stepped:
		kind = "stepped"
		data, err = json.Marshal(e)
	case *Result:
		kind = "result"
		data, err = json.Marshal(e)
	default:
		err = errors.New("the type is unknown")
	}
	if err != nil {
		return "", nil, fmt.Errorf("generators: an event of type %T has no encoding: %w", e, err)
	}
	return kind, data, nil
}

// Decode is the inverse of [Encode]. Numbers in log data become json.Number.
func Decode(kind string, data json.RawMessage) (Event, error) {
	var e Event
	switch kind {
	case "status":
		e = new(StatusEvent)
	case "progress":
		e = new(ProgressEvent)
	case "log":
		e = new(LogEvent)
	case "chunk":
		e = new(ChunkEvent)
	case "toast":
		e = new(ToastEvent)
	case "artifact":
		e = new(Artifact)
	case "stepped":
		e = new(Stepped)
	case "result":
		e = new(Result)
	default:
		return nil, fmt.Errorf("generators: unknown event kind %q", kind)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(e); err != nil {
		return nil, fmt.Errorf("generators: event of kind %q: %w", kind, err)
	}
	return e, nil
}
