package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/timeline"
	"github.com/photon-beam/beam/web/ui"
)

// settledAsk finds a question that was open once, with what became of it; nil
// if there is none.
func (s *Server) settledAsk(r *http.Request, who run.Caller, id string) (*timeline.Ask, error) {
	of, _, ok := log.SplitAskID(id)
	if !ok {
		return nil, nil
	}
	told, err := s.fold(r, who, of)
	if errors.Is(err, run.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return told.Ask(id), nil
}

// askClosed shows, on the page of a question, what became of it.
func (s *Server) askClosed(w http.ResponseWriter, r *http.Request, who run.Caller, id string, status int) error {
	a, err := s.settledAsk(r, who, id)
	switch {
	case err != nil:
		return err
	case a == nil:
		return run.ErrNoAsk
	}
	return s.render(w, r, status, ui.AskClosedPage(s.chrome(r, who, a.Title), a))
}

// notAnswered tells a page why a question can't be answered any more: one with
// script in the question's place, which is a patch, one without on a page of its
// own. Everybody else gets the error.
func (s *Server) notAnswered(w http.ResponseWriter, r *http.Request, who run.Caller, id string, err error) error {
	settled := errors.Is(err, run.ErrSettled)
	switch {
	case settled && wantsPage(r):
		return s.askClosed(w, r, who, id, http.StatusConflict)
	case !isPatch(r):
		return err
	}
	if settled {
		if a, _ := s.settledAsk(r, who, id); a != nil {
			return s.render(w, r, http.StatusOK, ui.AskSettled(a))
		}
	}
	_, text, _ := classify(err)
	return s.render(w, r, http.StatusOK, ui.AskGone(run.Open{ID: id}, text))
}

// watchAsk are the patches of the page of a question: what became of it.
func (s *Server) watchAsk(r *http.Request, who run.Caller, id string) []ui.Patch {
	_, err := s.engine.Ask(r.Context(), who, id)
	if !errors.Is(err, run.ErrSettled) {
		return nil
	}
	a, err := s.settledAsk(r, who, id)
	if err != nil || a == nil {
		return nil
	}
	return ui.List(ui.AskClosed(a))
}
