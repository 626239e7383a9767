package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/timeline"
	"github.com/photon-beam/beam/web/ui"
)

// What lists show at most.
const (
	maxRecentRuns = 8
	maxListedRuns = 200
	maxListedAsks = 200
)

// render writes a component once it is whole, so that an error in it becomes
// an error page and not half of one.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Accept, Cookie")
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	if err != nil {
		s.logger.Debug("writing a page", "path", r.URL.Path, "err", err)
	}
	return nil
}

// newChrome is what surrounds every page.
func (s *Server) newChrome(r *http.Request, who engine.Caller, title string) ui.Chrome {
	c := ui.Chrome{
		Title: title, Style: s.assets.URL("beam.css"), Icon: s.assets.URL("icons/beam.svg"), Script: s.assets.URL(datastarBundle), OwnScript: s.assets.URL("beam.js"),
		OpenAsks: s.engine.CountOpenAsks(who), Operator: who.Owns(Operator),
	}
	if who == nil {
		return c
	}
	current := strings.TrimPrefix(r.URL.Path, "/photons/")
	for _, p := range s.photonsByTitle() {
		c.Photons = append(c.Photons, ui.PhotonLink{Name: p.Name(), Title: p.Title(), Current: p.Name() == current})
	}
	c.RecentRuns = s.runLines(who, s.engine.Runs(who, maxRecentRuns, nil))
	return c
}

// photonsByTitle are all photons in the order of what people read of them.
func (s *Server) photonsByTitle() []*generators.Photon {
	all := slices.Clone(s.photons.All())
	slices.SortStableFunc(all, func(a, b *generators.Photon) int {
		return strings.Compare(strings.ToLower(a.Title()), strings.ToLower(b.Title()))
	})
	return all
}

func (s *Server) handleHome(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
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
	c := s.newChrome(r, who, "Photons")
	c.SearchQuery = q
	return s.render(w, r, http.StatusOK, ui.Home(c, cards))
}

// matchesSearch tells whether every word of a search stands in what a photon says of
// itself.
func matchesSearch(p *generators.Photon, search string) bool {
	said := strings.ToLower(p.Name() + " " + p.Title() + " " + p.Options().Description)
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(said, word) {
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

func (s *Server) handlePhoton(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	p, ok := s.photons.Lookup(r.PathValue("name"))
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
	return s.render(w, r, http.StatusOK, ui.PhotonDetails(s.newChrome(r, who, p.Title()), page))
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

// prefillValues fills a form in as a link wants it, what the link leaves out with its
// default; nil if the link wants nothing. It never starts anything.
func prefillValues(fields ask.Fields, query url.Values) url.Values {
	values, wanted := url.Values{}, false
	for _, f := range fields {
		if v, ok := query[f.Name]; ok {
			values[f.Name], wanted = linkValues(&f, v), true
		} else if v := ui.DefaultValues(&f); v != nil {
			values[f.Name] = v
		}
	}
	if !wanted {
		return nil
	}
	return values
}

// linkValues are a link's values as a form posts them: a list may come as JSON.
// A moment in RFC 3339 stays one: the page shows it in the time of its browser.
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

// argumentsField is the form field that holds all arguments as JSON: those of a run
// that is to be run again.
const argumentsField = "beam:args"

// decodeArguments reads a photon's arguments from a form.
func decodeArguments(posted url.Values, fields ask.Fields) json.RawMessage {
	if args := posted.Get(argumentsField); json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return form.Decode(fields, posted, formTimeZone(posted))
}

// hasState keeps the runs in a state; empty keeps all.
func hasState(state string) func(engine.Info) bool {
	return func(i engine.Info) bool { return state == "" || string(i.State) == state }
}

func (s *Server) handleRuns(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	state := r.URL.Query().Get("state")
	if state != "" && !slices.Contains(ui.RunStates, engine.State(state)) {
		return statusErrorf(http.StatusBadRequest, "The parameter state is none that a run can be in.")
	}
	infos := s.engine.Runs(who, maxListedRuns, hasState(state))
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"runs": nonNil(infos)})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Runs(s.newChrome(r, who, "Runs"), ui.RunsPage{State: state, Runs: s.runLines(who, infos)}))
}

func (s *Server) handleRun(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	id := r.PathValue("id")
	info, err := s.engine.Info(who, id)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, info)
		return nil
	}
	told, err := s.loadTimeline(r, who, id)
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, ui.RunPage(s.newChrome(r, who, told.Title+" "+told.ShortID()), told))
}

// loadTimeline reads a run's log into what its page shows.
func (s *Server) loadTimeline(r *http.Request, who engine.Caller, id string) (*timeline.Run, error) {
	batches, err := s.engine.Read(r.Context(), who, id, 0)
	if err != nil {
		return nil, err
	}
	told := timeline.New(id)
	for batch, err := range batches {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			told.Apply(e)
		}
	}
	return told, nil
}

func (s *Server) handleInbox(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	open := s.engine.Inbox(who, maxListedAsks)
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"asks": nonNil(open), "count": s.engine.CountOpenAsks(who)})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Inbox(s.newChrome(r, who, "Inbox"), open))
}

// handleAsk shows one question alone: where links to it lead, and where secrets
// and files are handed in.
func (s *Server) handleAsk(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	open, err := s.engine.OpenAsk(r.Context(), who, r.PathValue("id"))
	if errors.Is(err, engine.ErrSettled) && !wantsJSON(r) {
		return s.renderClosedAsk(w, r, who, r.PathValue("id"), http.StatusOK)
	}
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, open)
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.AskPage(s.newChrome(r, who, open.Title), open, nil, nil))
}

// nonNil makes an empty list of no list, for JSON.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
