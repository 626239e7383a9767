package web

import (
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// How many hits of one kind a search has.
const maxHits = 8

// handleFind searches pages, photons, open questions, runs and documents, as a page or as JSON for the
// palette.
func (s *Server) handleFind(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(text) > request.MaxText {
		return problem.Errorf(http.StatusBadRequest, "The parameter q must be at most %d bytes long.", request.MaxText)
	}
	c := s.newChrome(r, caller, "Find")
	hits, err := s.find(c, caller, text)
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		response.JSON(w, http.StatusOK, map[string]any{"hits": response.NonNil(hits)})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Find(c, text, hits))
}

// find returns what matches a text; an empty one matches all.
func (s *Server) find(c ui.Chrome, caller generators.Caller, text string) (hits []ui.Hit, err error) {
	m := newRunMatcher(ui.RunFilter{Text: text})
	for _, page := range s.pages(c) {
		if m.matchesText(page.Title) {
			hits = append(hits, page)
		}
	}
	n := 0
	for _, p := range s.photonList(caller).sorted {
		if n == maxHits {
			break
		}
		if matchesSearch(p, text) {
			n++
			hits = append(hits, ui.Hit{Kind: photonKind(p), Title: p.Title(), Detail: p.Name(), URL: s.links.Photon(p.Name())})
		}
	}
	asks, err := searchAsks(s.engine, caller, map[string][]string{"q": {text}}, nil, maxHits)
	if err != nil {
		return nil, err
	}
	for _, a := range asks.asks {
		hits = append(hits, ui.NewAskHit(a, s.links.Ask(a.ID)))
	}
	m.maxScanned, m.maxInputs = maxFoundRuns, maxFoundInputs
	found, err := s.searchRuns(caller, m, engine.Position{}, maxHits)
	if err != nil {
		return nil, err
	}
	for _, line := range s.runLines(caller, found.infos) {
		hits = append(hits, ui.NewRunHit(line, s.links.Run(line.ID)))
	}
	for _, d := range readDocs() {
		if text != "" && m.matchesText(d.title) {
			hits = append(hits, ui.Hit{Kind: "Document", Title: d.title, URL: s.links.Doc(d.name)})
		}
	}
	return hits, nil
}

// Bounds on what a search for the palette looks at, which is repeated as a person types.
const (
	maxFoundRuns   = 2_000
	maxFoundInputs = 50
)

// pages returns the pages that a person may open.
func (s *Server) pages(c ui.Chrome) []ui.Hit {
	list := []ui.Hit{{Title: "Photons", URL: s.links.Home()}, {Title: "Runs", URL: s.links.Runs()}, {Title: "Inbox", URL: s.links.Inbox()}, {Title: "Documentation", URL: s.links.Docs()}, {Title: "Settings", URL: s.links.Settings()}}
	if s.sampling != nil {
		list = append(list, ui.Hit{Title: "Models", URL: s.links.Models()})
	}
	if c.Upstreams {
		list = append(list, ui.Hit{Title: "Upstreams", URL: s.links.Upstreams()})
	}
	for i := range list {
		list[i].Kind = "Page"
	}
	return list
}

// photonKind says whether a photon is Beam's own or the tool of an upstream.
func photonKind(p *generators.Photon) string {
	if upstream := upstreamOf(p); upstream != "" {
		return "Tool of " + upstream
	}
	return "Photon"
}
