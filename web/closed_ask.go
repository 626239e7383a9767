package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/timeline"
	"github.com/photon-beam/beam/web/ui"
)

// findSettledAsk finds a question that was open once, with what became of it; nil
// if there is none.
func (s *Server) findSettledAsk(r *http.Request, who engine.Caller, id string) (*timeline.Ask, error) {
	of, _, ok := runlog.SplitAskID(id)
	if !ok {
		return nil, nil
	}
	told, err := s.loadTimeline(r, who, of)
	if errors.Is(err, engine.ErrRunNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return told.Ask(id), nil
}

// renderClosedAsk shows, on the page of a question, what became of it.
func (s *Server) renderClosedAsk(w http.ResponseWriter, r *http.Request, who engine.Caller, id string, status int) error {
	a, err := s.findSettledAsk(r, who, id)
	switch {
	case err != nil:
		return err
	case a == nil:
		return engine.ErrAskNotFound
	}
	return s.render(w, r, status, ui.AskClosedPage(s.newChrome(r, who, a.Title), a))
}

// renderUnanswerable tells a page why a question can't be answered any more: one with
// script in the question's place, which is a patch, one without on a page of its
// own. Everybody else gets the error.
func (s *Server) renderUnanswerable(w http.ResponseWriter, r *http.Request, who engine.Caller, id string, err error) error {
	settled := errors.Is(err, engine.ErrSettled)
	switch {
	case settled && wantsHTML(r):
		return s.renderClosedAsk(w, r, who, id, http.StatusConflict)
	case !isDatastarRequest(r):
		return err
	}
	if settled {
		if a, _ := s.findSettledAsk(r, who, id); a != nil {
			return s.render(w, r, http.StatusOK, ui.AskClosedInDock(a))
		}
	}
	_, text, _ := classifyError(err)
	return s.render(w, r, http.StatusOK, ui.AskUnavailable(engine.OpenAsk{ID: id}, text))
}

// closedAskPatches are the patches of the page of a question: what became of it.
func (s *Server) closedAskPatches(r *http.Request, who engine.Caller, id string) []ui.Patch {
	_, err := s.engine.OpenAsk(r.Context(), who, id)
	if !errors.Is(err, engine.ErrSettled) {
		return nil
	}
	a, err := s.findSettledAsk(r, who, id)
	if err != nil || a == nil {
		return nil
	}
	return ui.ListPatches(ui.AskClosed(a))
}
