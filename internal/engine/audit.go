package engine

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/runlog"
)

// auditEvent returns an event of a caller that concerns the run.
func (r *trackedRun) auditEvent(kind string, caller generators.Caller) audit.Event {
	event := audit.Of(kind, caller)
	event.Run, event.Photon = r.id, r.Start.Photon
	return event
}

// auditAnswer records who answered a question where. Callers hold mu.
func (r *trackedRun) auditAnswer(a runlog.Answered) {
	var by generators.Caller
	if a.Caller != nil {
		by = *a.Caller
	}
	event := r.auditEvent(audit.Answered, by)
	event.Ask, event.Surface, event.Action, event.Question = runlog.AskID(r.id, a.AskSeq), a.Surface, string(a.Answer.Action), a.Shown
	r.core.audit.Record(event)
}
