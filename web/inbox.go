package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/ui"
)

// maxListedAsks is how many questions the inbox lists.
const maxListedAsks = 200

func (s *Server) handleInbox(w http.ResponseWriter, r *http.Request, caller engine.Caller) error {
	open := s.engine.Inbox(caller, maxListedAsks)
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"asks": nonNil(open), "count": s.engine.CountOpenAsks(caller)})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Inbox(s.newChrome(r, caller, "Inbox"), open))
}

// handleAsk renders the page of one question, which links to questions lead to. MCP
// clients send people there to answer secrets and files.
func (s *Server) handleAsk(w http.ResponseWriter, r *http.Request, caller engine.Caller) error {
	open, err := s.engine.OpenAsk(r.Context(), caller, r.PathValue("id"))
	if errors.Is(err, engine.ErrSettled) && !wantsJSON(r) {
		return s.renderClosedAsk(w, r, caller, r.PathValue("id"), http.StatusOK)
	}
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, open)
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.AskPage(s.newChrome(r, caller, open.Title), open, nil, nil))
}
