package stream

import (
	"encoding/json"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/problem"
)

// Log streams a run's log: each message is an entry.
func (h *Handlers) Log(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	after, err := sse.ResumeAfter(r)
	if err != nil {
		return problem.Errorf(http.StatusBadRequest, "%v.", err)
	}
	info, err := h.Engine.Info(caller, r.PathValue("id"))
	if err != nil {
		return err
	}
	if isOver(w, r, info, sse.Message{ID: after}) {
		return nil
	}
	ctx, cancel := h.withClosing(r.Context(), finalEventsGrace)
	defer cancel()
	return h.serveEntries(engine.WithPanics(ctx), w, caller, info.ID, after, entryRenderer{})
}

// An entryRenderer renders the entries of a log as they are, without what concerns only the
// engine: claims, the values of steps and sealed answers.
type entryRenderer struct{}

var _ sse.Renderer = entryRenderer{}

// Render implements [sse.Renderer].
func (entryRenderer) Render(batch []runlog.Entry) ([]sse.Message, error) {
	messages := make([]sse.Message, 0, len(batch))
	for _, e := range batch {
		e, ok := e.Public()
		if !ok {
			continue
		}
		data, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		messages = append(messages, sse.Message{ID: e.Seq, Data: data})
	}
	return messages, nil
}
