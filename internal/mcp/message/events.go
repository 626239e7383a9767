package message

import (
	"cmp"
	"encoding/json"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/runlog"
)

// An eventForm returns the notification for an event, or false if the client
// gets none.
type eventForm func(t *Translator, s *State, seq uint64, e generators.Event) (Outgoing, bool)

// eventForms has the MCP form of every kind of event; see [driver.Kinds].
var eventForms = map[string]eventForm{
	"status":   statusNotification,
	"progress": progressNotification,
	"log":      logNotification,
	"chunk":    chunkNotification,
	"toast":    toastNotification,
	"artifact": artifactNotification,
	"stepped":  noNotification, // what a step returned is the run's own affair
	"result":   noNotification, // the run's end carries it
}

type (
	progressParams struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total,omitempty"`
		Message  string          `json:"message,omitempty"`
		Meta     *eventMeta      `json:"_meta,omitempty"`
	}
	logParams struct {
		Level  string     `json:"level"`
		Logger string     `json:"logger,omitempty"`
		Data   any        `json:"data"`
		Meta   *eventMeta `json:"_meta,omitempty"`
	}
	eventMeta struct {
		Kind  string           `json:"beam/kind"`            // of the event
		Level generators.Level `json:"beam/level,omitempty"` // of a status
	}
	artifactData struct {
		Title     string `json:"title"`
		MediaType string `json:"mediaType"`
		Size      int64  `json:"size"`
		URL       string `json:"url,omitempty"`
	}
)

// Notification returns the notification for an event, or nil if the client gets
// none. An event of an unknown kind, as a newer Beam may have recorded, becomes a
// log message with its JSON. That a run sleeps, waits for another run, or asks a model, is
// reported as a status is; that a step begins again, as a log message. Other entries that
// are not events have no notification here.
func (t *Translator) Notification(s *State, e runlog.Entry) ([]byte, error) {
	n := notifier{Rest: noEntry, t: t, s: s}
	err := e.Visit(&n)
	return n.message, err
}

// A notifier makes the notification of an entry.
type notifier struct {
	runlog.Rest
	t       *Translator
	s       *State
	message []byte
}

// noEntry is for the entries without a notification.
func noEntry(runlog.Entry) error { return nil }

func (n *notifier) Sleeping(_ runlog.Entry, d runlog.Sleeping) error { return n.status(d.Describe()) }

func (n *notifier) Queued(_ runlog.Entry, d runlog.Queued) error { return n.status(d.Describe()) }

func (n *notifier) Repeated(e runlog.Entry, d runlog.Repeated) error {
	n.message = n.t.LogMessage(generators.Notice, d.Describe(), string(e.Kind))
	return nil
}

func (n *notifier) Parked(e runlog.Entry, d runlog.Parked) error {
	n.message = n.t.LogMessage(generators.Warning, d.Describe(), string(e.Kind))
	return nil
}

// Sampling says that a model is asked, or why it did not reply. A client gets no text of a
// reply before it is returned.
func (n *notifier) Sampling(_ runlog.Entry, d runlog.Sampling) error {
	switch {
	case d.Approved != nil:
		return n.status("Asking the model " + d.Approved.Model)
	case d.Ended != nil:
		return n.status(d.Ended.Error)
	}
	return n.status(d.Notice)
}

func (n *notifier) Event(e runlog.Entry) error {
	form, ok := eventForms[string(e.Kind)]
	if !ok {
		n.message = n.t.LogMessage(generators.Info, jsonOrText(e.Data), string(e.Kind))
		return nil
	}
	event, err := driver.Decode(string(e.Kind), e.Data)
	if err != nil {
		return err
	}
	if m, ok := form(n.t, n.s, e.Seq, event); ok {
		n.message = Encode(m)
	}
	return nil
}

// status makes the status that a text says, if it says anything.
func (n *notifier) status(text string) error {
	if text == "" {
		return nil
	}
	if m, ok := statusNotification(n.t, n.s, 0, &generators.StatusEvent{Level: generators.Info, Text: text}); ok {
		n.message = Encode(m)
	}
	return nil
}

// StatusMessage returns progress that only says text, and counts as one step; nil
// if the client wants no progress.
func (t *Translator) StatusMessage(s *State, text string) []byte {
	n, ok := t.statusProgress(s, text, nil)
	if !ok {
		return nil
	}
	return Encode(n)
}

// LogMessage returns a notifications/message; nil if the client wants none of that
// level.
func (t *Translator) LogMessage(level generators.Level, data any, kind string) []byte {
	n, ok := t.logMessage(level, "", data, kind)
	if !ok {
		return nil
	}
	return Encode(n)
}

func statusNotification(t *Translator, s *State, _ uint64, e generators.Event) (Outgoing, bool) {
	status := e.(*generators.StatusEvent)
	meta := t.eventMeta("status")
	if meta != nil {
		meta.Level = status.Level
	}
	n, ok := t.statusProgress(s, status.Text, meta)
	if t.ProgressToken == nil {
		return t.logMessage(status.Level, "", status.Text, "status")
	}
	return n, ok
}

// statusProgress returns the progress for a status. The status counts even if the
// client wants no progress, so that the state depends on the log alone.
func (t *Translator) statusProgress(s *State, text string, meta *eventMeta) (Outgoing, bool) {
	value, ok := s.Progress.Step()
	return t.progress(progressParams{Progress: value, Message: text, Meta: meta}), ok && t.ProgressToken != nil
}

func progressNotification(t *Translator, s *State, _ uint64, e generators.Event) (Outgoing, bool) {
	p := e.(*generators.ProgressEvent)
	value, total, ok := s.Progress.Advance(p.Done, p.Total)
	return t.progress(progressParams{Progress: value, Total: total, Message: p.Text, Meta: t.eventMeta("progress")}), ok && t.ProgressToken != nil
}

func (t *Translator) progress(p progressParams) Outgoing {
	p.Token = t.ProgressToken
	return Outgoing{Method: "notifications/progress", Params: p}
}

func logNotification(t *Translator, _ *State, _ uint64, e generators.Event) (Outgoing, bool) {
	line := e.(*generators.LogEvent)
	return t.logMessage(line.Level, line.Logger, line.Data, "log")
}

func chunkNotification(t *Translator, _ *State, _ uint64, e generators.Event) (Outgoing, bool) {
	return t.logMessage(generators.Info, "", e.(*generators.ChunkEvent).Text, "chunk")
}

func toastNotification(t *Translator, _ *State, _ uint64, e generators.Event) (Outgoing, bool) {
	toast := e.(*generators.ToastEvent)
	return t.logMessage(toast.Level, "", toast.Text, "toast")
}

// artifactNotification keeps the artifact for the result, and announces it to
// clients that know Beam.
func artifactNotification(t *Translator, s *State, seq uint64, e generators.Event) (Outgoing, bool) {
	s.artifacts = append(s.artifacts, seq)
	if !t.Annotated {
		return Outgoing{}, false
	}
	a := e.(*generators.Artifact)
	address, err := t.artifactURL(seq)
	if err != nil {
		address = ""
	}
	return t.logMessage(generators.Info, "", artifactData{a.Title, a.MediaType, a.Size, address}, "artifact")
}

func noNotification(*Translator, *State, uint64, generators.Event) (Outgoing, bool) {
	return Outgoing{}, false
}

func (t *Translator) logMessage(level generators.Level, logger string, data any, kind string) (Outgoing, bool) {
	name := string(driver.SyslogLevel(level))
	p := logParams{name, cmp.Or(logger, t.Photon.Name()), data, t.eventMeta(kind)}
	return Outgoing{Method: "notifications/message", Params: p}, t.Client.wantsLog(name)
}

func (t *Translator) eventMeta(kind string) *eventMeta {
	if !t.Annotated {
		return nil
	}
	return &eventMeta{Kind: kind}
}

// artifactURL returns the address of an artifact's body.
func (t *Translator) artifactURL(seq uint64) (string, error) {
	base, err := t.Source.PageBaseURL()
	return links.Base(base).Artifact(t.RunID, seq), err
}

// jsonOrText returns data as JSON, or as a string if it is not valid JSON.
func jsonOrText(data json.RawMessage) any {
	if json.Valid(data) {
		return data
	}
	return string(data)
}
