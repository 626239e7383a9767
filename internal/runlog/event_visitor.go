package runlog

import (
	"github.com/photon-beam/beam/generators"
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
