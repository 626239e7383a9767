package web

import (
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/ui"
)

// maxRecentRuns is how many runs the sidebar lists.
const maxRecentRuns = 8

func (s *Server) handleHome(w http.ResponseWriter, r *http.Request, caller engine.Caller) error {
	if wantsJSON(r) {
		all := s.photons.All()
		list := make([]photonJSON, len(all))
		for i, p := range all {
			list[i] = newPhotonJSON(p)
		}
		writeJSON(w, http.StatusOK, map[string]any{"photons": list})
		return nil
	}
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	var cards []ui.PhotonCard
	for _, p := range s.photonsByTitle() {
		cards = append(cards, ui.PhotonCard{
			Name: p.Name(), Title: p.Title(), Description: p.Options().Description,
			Traits: traitsOf(p.Options()), Hidden: !matchesSearch(p, q),
		})
	}
	c := s.newChrome(r, caller, "Photons")
	c.SearchQuery = q
	return s.render(w, r, http.StatusOK, ui.Home(c, cards))
}

// matchesSearch reports whether a photon's name, title or description contains every
// word of the search.
func matchesSearch(p *generators.Photon, search string) bool {
	text := strings.ToLower(p.Name() + " " + p.Title() + " " + p.Options().Description)
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
