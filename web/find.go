package web

import (
	"net/http"
	"net/url"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/lists"
	"github.com/photon-beam/beam/web/internal/manual"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/photons"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// How many hits of one kind a search has.
const maxHits = 8

// A finder serves the search for anything.
type finder struct {
	engine    *engine.Engine
	photons   *lists.Photons
	runs      *lists.Runs
	documents *manual.Handlers
	hasModels bool
	links     links.Base
	renderer  *page.Renderer
}

// find searches pages, photons, open questions, runs and documents, as a page or as JSON for the
// palette.
func (h *finder) find(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	text, err := request.Text(r.URL.Query(), "q")
	if err != nil {
		return err
	}
	c := h.renderer.Chrome(r, caller, "Find")
	hits, err := h.search(c, caller, text)
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, map[string]any{"hits": response.NonNil(hits)})
	}
	return h.renderer.Render(w, r, http.StatusOK, ui.Find(c, text, hits))
}

// search returns what matches a text; an empty one matches all.
func (h *finder) search(c ui.Chrome, caller generators.Caller, text string) (hits []ui.Hit, err error) {
	words := lists.NewWords(text)
	for _, page := range h.pages(c, caller) {
		if words.Match(page.Title) {
			hits = append(hits, page)
		}
	}
	n := 0
	for _, p := range h.photons.Of(caller).Sorted {
		if n == maxHits {
			break
		}
		if photons.Matches(words, p) {
			n++
			hits = append(hits, ui.Hit{Kind: photonKind(p), Title: p.Title(), Detail: p.Name(), URL: h.links.Photon(p.Name())})
		}
	}
	asks, err := lists.SearchAsks(h.engine, caller, url.Values{"q": {text}}, nil, maxHits)
	if err != nil {
		return nil, err
	}
	for _, a := range asks.Asks {
		hits = append(hits, ui.NewAskHit(a, h.links.Ask(a.ID)))
	}
	m := lists.NewMatcher(ui.RunFilter{Text: text})
	m.MaxScanned, m.MaxInputs = maxFoundRuns, maxFoundInputs
	found, err := h.runs.Search(caller, m, engine.Position{}, maxHits)
	if err != nil {
		return nil, err
	}
	for _, line := range h.runs.Lines(caller, found.Infos) {
		hits = append(hits, ui.NewRunHit(line, h.links.Run(line.ID)))
	}
	h.documents.EachTitle(func(title, url string) {
		if text != "" && words.Match(title) {
			hits = append(hits, ui.Hit{Kind: "Document", Title: title, URL: url})
		}
	})
	return hits, nil
}

// Bounds on what a search for the palette looks at, which is repeated as a person types.
const (
	maxFoundRuns   = 2_000
	maxFoundInputs = 50
)

// pages returns the pages that a person may open.
func (h *finder) pages(c ui.Chrome, caller generators.Caller) []ui.Hit {
	list := []ui.Hit{{Title: "Photons", URL: h.links.Home()}, {Title: "Runs", URL: h.links.Runs()}, {Title: "Inbox", URL: h.links.Inbox()}, {Title: "Documentation", URL: h.links.Docs()}, {Title: "Settings", URL: h.links.Settings()}}
	if h.hasModels {
		list = append(list, ui.Hit{Title: "Models", URL: h.links.Models()})
	}
	if c.Upstreams {
		list = append(list, ui.Hit{Title: "Upstreams", URL: h.links.Upstreams()})
	}
	if h.engine.IsShared() && caller.HasRole(generators.RoleOperator) {
		list = append(list, ui.Hit{Title: "Replicas", URL: h.links.To("/replicas")})
	}
	for i := range list {
		list[i].Kind = "Page"
	}
	return list
}

// photonKind says whether a photon is Beam's own or the tool of an upstream.
func photonKind(p *generators.Photon) string {
	if upstream := lists.UpstreamOf(p); upstream != "" {
		return "Tool of " + upstream
	}
	return "Photon"
}
