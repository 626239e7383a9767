package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/web/internal/ui"
)

// maxCardText is how many characters of a photon's description the first page shows.
const maxCardText = 400

// maxRecentRuns is how many runs the sidebar lists.
const maxRecentRuns = 8

func (s *Server) handleHome(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if wantsJSON(r) {
		all := s.engine.Photons(caller)
		list := make([]any, len(all))
		for i, p := range all {
			list[i] = newPhotonJSON(p)
		}
		writeJSON(w, http.StatusOK, map[string]any{"photons": list})
		return nil
	}
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	var cards []ui.PhotonCard
	for _, p := range s.photonsByGroup(caller) {
		cards = append(cards, ui.PhotonCard{
			Name: p.Name(), Title: p.Title(), Description: humanize.Truncate(p.Options().Description, maxCardText), Group: p.Options().Group,
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

// photonJSON is a photon as MCP's tools/list describes a tool.
type photonJSON struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	InputSchema  *generators.Schema `json:"inputSchema"`
	OutputSchema *generators.Schema `json:"outputSchema,omitempty"`
	Annotations  map[string]bool    `json:"annotations"`
	Durable      bool               `json:"durable"`
}

// newPhotonJSON returns a photon as JSON: a [photonJSON] or, of another server's tool, its
// definition under the photon's name.
func newPhotonJSON(p *generators.Photon) any {
	o := p.Options()
	if o.Definition != nil {
		return definitionJSON(p)
	}
	return photonJSON{
		Name: p.Name(), Title: p.Title(), Description: o.Description,
		InputSchema: p.Input(), OutputSchema: p.Output(), Durable: o.Durable,
		Annotations: map[string]bool{
			"readOnlyHint": o.ReadOnly, "destructiveHint": o.Destructive,
			"idempotentHint": o.Idempotent, "openWorldHint": o.OpenWorld,
		},
	}
}

// definitionJSON returns the definition of another server's tool, with the members that
// every photon has.
func definitionJSON(p *generators.Photon) json.RawMessage {
	own := map[string]json.RawMessage{
		"name": rawjson.EncodeText(p.Name()), "title": rawjson.EncodeText(p.Title()), "description": rawjson.EncodeText(p.Options().Description),
		"annotations": json.RawMessage("{}"), "durable": json.RawMessage(strconv.FormatBool(p.Options().Durable)),
	}
	out := []byte{'{'}
	add := func(name string, value json.RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendText(out, name), ':'), value...)
	}
	rawjson.EachMember(p.Options().Definition, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "name", "title", "description": // for people
			value = own[string(name)]
		}
		delete(own, string(name))
		add(string(name), value)
	})
	for _, name := range slices.Sorted(maps.Keys(own)) {
		add(name, own[name])
	}
	return append(out, '}')
}

func (s *Server) handlePhoton(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	p, ok := s.engine.LookupPhoton(caller, r.PathValue("name"))
	if !ok {
		return engine.ErrPhotonNotFound
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, newPhotonJSON(p))
		return nil
	}
	page := newPhotonPage(p)
	page.Form = form.ForPhoton(p).Link(r.URL.Query())
	return s.render(w, r, http.StatusOK, ui.PhotonDetails(s.newChrome(r, caller, p.Title()), page))
}

// newPhotonPage returns a photon's page without its form.
func newPhotonPage(p *generators.Photon) ui.PhotonPage {
	o := p.Options()
	return ui.PhotonPage{Name: p.Name(), Title: p.Title(), Description: o.Description, Traits: traitsOf(o), Upstream: upstreamOf(p)}
}

// upstreamOf returns the MCP server whose tool a photon calls; empty for Beam's own.
func upstreamOf(p *generators.Photon) string {
	if p.Options().Definition == nil {
		return ""
	}
	return p.Options().Group // as package catalogue makes them
}

// upstreamOf returns the MCP server whose tool the photon of that name calls; empty for
// Beam's own, and if there is no such photon now.
func (s *Server) upstreamOf(photon string) string {
	p, ok := s.photons.Lookup(photon)
	if !ok {
		return ""
	}
	return upstreamOf(p)
}

func traitsOf(o generators.Options) ui.Traits {
	return ui.Traits{
		ReadOnly: o.ReadOnly, Destructive: o.Destructive, Idempotent: o.Idempotent,
		OpenWorld: o.OpenWorld, Durable: o.Durable,
	}
}
