// Package photons serves photons: their list, their pages and forms, and the starts of their runs.
package photons

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/lists"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/site"
	"github.com/photon-beam/beam/web/internal/ui"
	"github.com/photon-beam/beam/web/internal/upstreams"
)

// Handlers serve photons.
type Handlers struct {
	Engine  *engine.Engine
	Lists   *lists.Photons
	Callers *access.Callers
	// Clients are the MCP clients that are connected; nil if the MCP endpoint isn't served.
	Clients Clients
	// Upstreams are the MCP servers whose tools are photons; nil if there are none.
	Upstreams upstreams.Servers
	// Program is how MCP clients start this program; zero if they don't.
	Program connect.Entry
	Site    *site.Site
	Pages   *page.Renderer
}

// List lists the photons that the caller may use.
func (h *Handlers) List(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if request.WantsJSON(r) {
		all := h.Engine.Photons(caller)
		list := make([]any, len(all))
		for i, p := range all {
			list[i] = newPhotonJSON(p)
		}
		return response.JSON(w, http.StatusOK, map[string]any{"photons": list})
	}
	page, err := h.homePage(r, caller)
	if err != nil {
		return err
	}
	if request.IsDatastar(r) { // the person types what to find
		return h.Pages.Render(w, r, http.StatusOK, ui.Photons(page))
	}
	c := h.Pages.Chrome(r, caller, "Photons")
	c.SearchQuery = page.Query
	return h.Pages.Render(w, r, http.StatusOK, ui.Home(c, page))
}

// photonsPerPage is how many photons a page of them has.
const photonsPerPage = 50

// homePage returns the page of photons that a request asks for.
func (h *Handlers) homePage(r *http.Request, caller generators.Caller) (page ui.HomePage, err error) {
	all := h.Lists.Of(caller).Sorted
	page.Query, page.After, page.Count = strings.TrimSpace(r.URL.Query().Get("q")), r.URL.Query().Get("after"), len(all)
	words, first := lists.NewWords(page.Query), 0
	if page.After != "" {
		first = slices.IndexFunc(all, func(p *generators.Photon) bool { return p.Name() == page.After }) + 1
		if first == 0 {
			return page, problem.Errorf(http.StatusBadRequest, "The parameter after is not from this list. Start without it.")
		}
	}
	for i, p := range all {
		if !Matches(words, p) {
			continue
		}
		page.Found++
		switch {
		case i < first:
		case len(page.Photons) == photonsPerPage:
			page.Next = page.Photons[photonsPerPage-1].Name
		default:
			page.Photons = append(page.Photons, ui.PhotonCard{Name: p.Name(), Title: p.Title(), Options: p.Options()})
		}
	}
	return page, nil
}

// Show shows a photon and its form.
func (h *Handlers) Show(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	p, err := h.lookup(r, caller)
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, newPhotonJSON(p))
	}
	page := newPhotonPage(p)
	if run := r.URL.Query().Get(fromField); run != "" {
		args, err := h.inputOf(r, caller, p.Name(), run)
		if err != nil {
			return err
		}
		page.Form = form.ForPhoton(p).Fill(form.ForPhoton(p).Fill(args).WithoutSecrets())
		if page.Until = r.URL.Query().Get(untilField); page.Until != "" {
			page.Fork = run
		}
		if page.Query = linkQuery(page.Form.WithoutSecrets()); len(page.Query) > maxLinkQuery {
			page.Query = ""
		}
	} else {
		page.Form, page.Query = form.ForPhoton(p).Link(r.URL.Query()), filledIn(p, r)
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.PhotonDetails(h.Pages.Chrome(r, caller, p.Title()), page))
}

// fromField names, in the address of a photon's page, the run with whose input the form is
// filled in.
const fromField = "beam:from"

// inputOf returns the input of a run of a photon.
func (h *Handlers) inputOf(r *http.Request, caller generators.Caller, name, run string) (json.RawMessage, error) {
	photon, args, err := h.Engine.Input(r.Context(), caller, run)
	if err != nil {
		return nil, err
	}
	if photon != name {
		return nil, problem.Errorf(http.StatusBadRequest, "The parameter %s must be a run of %s; this one is of %s.", fromField, name, photon)
	}
	return args, nil
}

// newPhotonPage returns a photon's page without its form.
func newPhotonPage(p *generators.Photon) ui.PhotonPage {
	o := p.Options()
	page := ui.PhotonPage{Name: p.Name(), Title: p.Title(), Options: o, Upstream: lists.UpstreamOf(p)}
	for i, example := range o.Examples {
		raw, ok := example.(json.RawMessage) // as package generators makes them
		query := linkQuery(raw)
		if !ok || len(query) > maxLinkQuery {
			continue
		}
		page.Examples = append(page.Examples, ui.Example{Label: cmp.Or(lists.SummarizeArguments(p, raw), "Example "+strconv.Itoa(i+1)), Query: query})
	}
	return page
}

// filledIn returns the query of a link to a form that is filled in as the request's address
// says, without secrets.
func filledIn(p *generators.Photon, r *http.Request) string {
	query := r.URL.Query()
	if len(query) == 0 {
		return ""
	}
	return linkQuery(form.ForPhoton(p).Link(query).WithoutSecrets())
}

// maxLinkQuery is the longest query of a link that fills in a form, in bytes.
const maxLinkQuery = 8 << 10

// linkQuery returns the query of an address that fills in a photon's form with arguments.
func linkQuery(args json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return ""
	}
	query := url.Values{}
	for name, raw := range members {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		query.Set(name, text)
	}
	return query.Encode()
}

// Matches reports whether a photon's name, title or description have the words of a search.
func Matches(words lists.Words, p *generators.Photon) bool {
	return len(words) == 0 || words.Match(p.Name(), p.Title(), p.Options().Description)
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
