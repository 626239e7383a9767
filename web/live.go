package web

import (
	"net/http"
	"time"

	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/ui"
)

// updates keeps a page with a list up to date: it sends the list, and what
// stands around every page, whenever one of the caller's runs has moved.
func (s *Server) updates(w http.ResponseWriter, r *http.Request, who run.Caller) error {
	list, ok := s.lists(r.URL.Query().Get("state"))[r.URL.Query().Get("page")]
	if !ok {
		return refuse(http.StatusBadRequest, "The parameter page must be home, runs or asks.")
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.untilClosing(r.Context(), 0)
	defer cancel()
	err := sse.Send(w, func(yield func([]sse.Message, error) bool) {
		for range s.engine.Watch(ctx, who) {
			patches := append(ui.Around(s.chrome(r, who, "")), list(who)...)
			if !yield(patchMessages(ctx, patches)) || !sse.Pause(ctx, listPause) {
				return
			}
		}
	})
	s.streamed(ctx, err, "page", r.URL.Query().Get("page"))
	return nil
}

// listPause is how long changes of a list are collected.
const listPause = 100 * time.Millisecond

// lists make the patches of each page that has a list; that of runs may be
// narrowed to a state.
func (s *Server) lists(state string) map[string]func(run.Caller) []ui.Patch {
	return map[string]func(run.Caller) []ui.Patch{
		"home": func(run.Caller) []ui.Patch { return nil },
		"runs": func(who run.Caller) []ui.Patch {
			return ui.List(ui.RunsList(s.engine.Runs(who, listedRuns, inState(state)), state != ""))
		},
		"asks": func(who run.Caller) []ui.Patch {
			return ui.List(ui.AsksList(s.engine.Inbox(who, listedAsks)))
		},
	}
}
