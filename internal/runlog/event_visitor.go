package runlog

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
)

// An EventVisitor does something for each kind of event that a log records as one. A new
// kind is a new method, so the compiler names each visitor that lacks it.
type EventVisitor interface {
	Status(*generators.StatusEvent)
	Progress(*generators.ProgressEvent)
	Log(*generators.LogEvent)
	Chunk(*generators.ChunkEvent)
	Toast(*generators.ToastEvent)
	Artifact(*generators.Artifact)

	// Unknown is called for an event of a kind that this version doesn't know.
	Unknown(*driver.UnknownEvent)
}

// VisitEvent calls the visitor's method for the kind of an event. Calls, steps and results
// have entries of their own kinds; see [Visitor].
func VisitEvent(e generators.Event, v EventVisitor) {
	switch e := e.(type) {
	case *generators.StatusEvent:
		v.Status(e)
	case *generators.ProgressEvent:
		v.Progress(e)
	case *generators.LogEvent:
		v.Log(e)
	case *generators.ChunkEvent:
		v.Chunk(e)
	case *generators.ToastEvent:
		v.Toast(e)
	case *generators.Artifact:
		v.Artifact(e)
	case *driver.UnknownEvent:
		v.Unknown(e)
	}
}

// ShownEvent returns an event with its texts as people read them, apart from what surfaces
// clean when they render it: chunks, which are parts of a text, the data of log lines, and the
// bodies of artifacts. The event itself isn't changed.
func ShownEvent(e generators.Event) generators.Event {
	shown := shownEvent{e}
	VisitEvent(e, &shown)
	return shown.event
}

// A shownEvent visits an event, and becomes the one that people read.
type shownEvent struct{ event generators.Event }

func (s *shownEvent) Status(e *generators.StatusEvent) {
	s.event = &generators.StatusEvent{Level: e.Level, Text: cleantext.Text(e.Text)}
}

func (s *shownEvent) Progress(e *generators.ProgressEvent) {
	s.event = &generators.ProgressEvent{Done: e.Done, Total: e.Total, Text: cleantext.Text(e.Text)}
}

func (s *shownEvent) Toast(e *generators.ToastEvent) {
	s.event = &generators.ToastEvent{Level: e.Level, Text: cleantext.Text(e.Text)}
}

func (s *shownEvent) Artifact(e *generators.Artifact) { s.event = ShownArtifact(e) }
func (s *shownEvent) Log(*generators.LogEvent)        {} // surfaces clean its data
func (s *shownEvent) Chunk(*generators.ChunkEvent)    {} // a part of a text
func (s *shownEvent) Unknown(*driver.UnknownEvent)    {}
