package generators

import (
	"encoding/json"
	"fmt"
)

// An Event is what a generator yields: a [StatusEvent], [ProgressEvent],
// [LogEvent], [ChunkEvent], [ToastEvent] or [Artifact] to show, a question, a
// [*Stepped] that closes a step, or, last, the [*Result]. The set is closed, and
// every surface shows every kind.
type Event interface{ event() }

// Level is the severity of a status, toast or log line. Statuses and toasts use
// Info, Success, Warning and Error. Log lines use the eight levels of RFC 5424,
// as logging in MCP does.
type Level string

// The levels, from least to most severe.
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

type (
	// StatusEvent describes in a sentence what the run is doing.
	StatusEvent struct {
		Level Level  `json:"level"`
		Text  string `json:"text"`
	}

	// ProgressEvent reports how far the run has come: Done of Total, in any
	// unit. A Total of 0 means that the total is unknown.
	ProgressEvent struct {
		Done  float64 `json:"done"`
		Total float64 `json:"total,omitempty"`
		Text  string  `json:"text,omitempty"`
	}

	// LogEvent is a structured log line (MCP: notifications/message).
	LogEvent struct {
		Level  Level  `json:"level"`
		Logger string `json:"logger,omitempty"`
		Data   any    `json:"data"`
	}

	// ChunkEvent is a piece of streamed text. It continues the previous chunk.
	ChunkEvent struct {
		Text string `json:"text"`
	}

	// ToastEvent is a short notice that a page shows for a few seconds.
	ToastEvent struct {
		Level Level  `json:"level"`
		Text  string `json:"text"`
	}

	// Result is the value that a run ends with, as JSON. The runtime yields it
	// when the generator returns; a generator never yields one itself.
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
func (*callEvent) event()     {}

// Status returns a status at level Info that describes what the run is doing.
func Status(text string) Event { return &StatusEvent{Info, text} }

// Statusf formats its arguments as fmt.Sprintf does and returns a [Status].
func Statusf(format string, args ...any) Event { return Status(fmt.Sprintf(format, args...)) }

// StatusAt returns a status at the given level: Info, Success, Warning or Error.
func StatusAt(level Level, text string) Event { return &StatusEvent{level, text} }

// Progress reports that done of total is done. Text may be empty.
func Progress(done, total float64, text string) Event { return &ProgressEvent{done, total, text} }

// Busy reports progress toward an unknown total.
func Busy(text string) Event { return &ProgressEvent{Text: text} }

// Log returns a line of the photon's own logger. Data is any value that
// encoding/json can encode.
func Log(level Level, data any) Event { return &LogEvent{Level: level, Data: data} }

// LogTo is like [Log] for the logger of the given name.
func LogTo(logger string, level Level, data any) Event { return &LogEvent{level, logger, data} }

// Chunk returns the next piece of a streamed text.
func Chunk(text string) Event { return &ChunkEvent{text} }

// Toast returns a short notice. Level is Info, Success, Warning or Error.
func Toast(level Level, text string) Event { return &ToastEvent{level, text} }
