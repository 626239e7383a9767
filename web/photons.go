package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/internal/ui"
)

// maxRecentRuns is how many runs the sidebar lists.
const maxRecentRuns = 8

func (s *Server) handleHome(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if wantsJSON(r) {
		all := s.engine.Photons(caller)
		list := make([]photonJSON, len(all))
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
			Name: p.Name(), Title: p.Title(), Description: p.Options().Description, Group: p.Options().Group,
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

func newPhotonJSON(p *generators.Photon) photonJSON {
	o := p.Options()
	return photonJSON{
		Name: p.Name(), Title: p.Title(), Description: o.Description,
		InputSchema: p.Input(), OutputSchema: p.Output(), Durable: o.Durable,
		Annotations: map[string]bool{
			"readOnlyHint": o.ReadOnly, "destructiveHint": o.Destructive,
			"idempotentHint": o.Idempotent, "openWorldHint": o.OpenWorld,
		},
	}
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
	fields, err := form.FromInputSchema(p.Input().Document())
	if err != nil {
		return err
	}
	page := newPhotonPage(p, fields)
	page.Values = prefillValues(fields, r.URL.Query())
	return s.render(w, r, http.StatusOK, ui.PhotonDetails(s.newChrome(r, caller, p.Title()), page))
}

func newPhotonPage(p *generators.Photon, fields ask.Fields) ui.PhotonPage {
	o := p.Options()
	return ui.PhotonPage{
		Name: p.Name(), Title: p.Title(), Description: o.Description, Fields: fields,
		Traits: traitsOf(o),
	}
}

func traitsOf(o generators.Options) ui.Traits {
	return ui.Traits{
		ReadOnly: o.ReadOnly, Destructive: o.Destructive, Idempotent: o.Idempotent,
		OpenWorld: o.OpenWorld, Durable: o.Durable,
	}
}

// prefillValues returns the values that a link's query fills in, and the defaults of the
// other fields; nil if the query names no field.
func prefillValues(fields ask.Fields, query url.Values) url.Values {
	values, found := url.Values{}, false
	for _, f := range fields {
		if v, ok := query[f.Name]; ok {
			values[f.Name], found = linkValues(&f, v), true
		} else if v := ui.DefaultValues(&f); v != nil {
			values[f.Name] = v
		}
	}
	if !found {
		return nil
	}
	return values
}

// linkValues converts a link's values to those of a form: a list may be JSON. Times in
// RFC 3339 are kept: the page converts them to the browser's time zone.
func linkValues(f *ask.Field, link []string) []string {
	if len(link) != 1 {
		return link
	}
	var list []string
	if f.Type == "array" && json.Unmarshal([]byte(link[0]), &list) == nil {
		return list
	}
	return link
}

// argumentsField is the form field that holds all arguments of a run to repeat, as JSON.
const argumentsField = "beam:args"

// decodeArguments reads a photon's arguments from a form.
func decodeArguments(posted url.Values, fields ask.Fields) json.RawMessage {
	if args := posted.Get(argumentsField); json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return form.Decode(fields, posted, formTimeZone(posted))
}
