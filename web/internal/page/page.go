// Package page renders whole pages: what is theirs, and the bar and the sidebar around it.
package page

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/assets"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/datastar"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/lists"
	"github.com/photon-beam/beam/web/internal/ui"
)

// A Renderer renders pages. It is safe for concurrent use.
type Renderer struct {
	Engine  *engine.Engine
	Callers *access.Callers
	Photons *lists.Photons
	Runs    *lists.Runs
	Links   links.Base
	// SignInCommand is the command that prints a sign-in address; empty if there is none.
	SignInCommand string
	HasUpstreams  bool
	Logger        *slog.Logger
}

// Render writes a component after rendering all of it, so that an error results in an
// error page instead of a truncated one.
func (p *Renderer) Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	html, err := ui.Render(r.Context(), c)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Accept, Cookie")
	w.WriteHeader(status)
	if _, err := w.Write(html); err != nil {
		p.Logger.Debug("writing a page", "path", r.URL.Path, "err", err)
	}
	return nil
}

// Chrome returns the bar and the sidebar of a page.
func (p *Renderer) Chrome(r *http.Request, caller generators.Caller, title string) ui.Chrome {
	c := ui.Chrome{
		Title: title, Style: p.assetURL("beam.css"), Icon: p.assetURL("icons/beam.svg"), Script: p.assetURL(datastar.Script), OwnScript: p.assetURL("beam.js"), Modules: p.scriptModules(),
		SignInCommand: p.SignInCommand,
	}
	c.Theme = themeOf(r)
	if caller.ID == "" {
		c.Anonymous = true
		return c
	}
	c.Person = caller.Name
	if !p.Callers.OwnSignIn && callers.IsSignedIn(caller) {
		c.SignedIn, c.Person = p.Callers.HasSession(r), callers.Describe(caller.ID, caller.Name)
	}
	c.Upstreams = p.SeesUpstreams(caller)
	current := r.PathValue("name") // of a photon's page
	p.Photons.Of(caller).AddTo(&c, current)
	if err := p.addLists(&c, caller); err != nil {
		p.Logger.Error("listing runs and questions beside a page", "err", err)
	}
	return c
}

// maxRecentRuns is how many runs the sidebar lists.
const maxRecentRuns = 8

// addLists adds the runs and the number of questions that stand beside each page.
func (p *Renderer) addLists(c *ui.Chrome, caller generators.Caller) (err error) {
	if c.OpenAsks, err = p.Engine.CountOpenAsks(caller); err != nil {
		return err
	}
	if p.Callers.MaySignIn(caller) {
		if c.ClientWaits, err = p.Engine.HasOpenAsk(callers.LocalClient(), startedByClient); err != nil {
			return err
		}
	}
	recent, err := p.Engine.Runs(caller, maxRecentRuns, nil)
	c.RecentRuns = p.Runs.Lines(caller, recent)
	return err
}

// SeesUpstreams reports whether the caller sees the pages of upstreams.
func (p *Renderer) SeesUpstreams(caller generators.Caller) bool {
	return p.HasUpstreams && caller.HasRole(generators.RoleOperator)
}

// startedByClient reports whether an MCP client started the run.
func startedByClient(i engine.Info) bool {
	surface, _, _ := strings.Cut(i.Surface, " ") // or "mcp task"
	return surface == "mcp"
}

// scriptModules returns the URLs of the modules that beam.js imports.
func (p *Renderer) scriptModules() []string {
	modules := assets.Pages().Imports("beam.js")
	for i, url := range modules {
		modules[i] = p.Links.To(url)
	}
	return modules
}

// assetURL returns the URL of a file of package static; empty if there is none.
func (p *Renderer) assetURL(name string) string {
	if !assets.Pages().Has(name) {
		return ""
	}
	return p.Links.To(assets.Pages().URL(name))
}

// ThemeCookie keeps the color scheme that a person chose, in this browser.
const ThemeCookie = "beam_theme"

// themeOf returns the color scheme that a request's browser is to use; empty for that of
// its system.
func themeOf(r *http.Request) string {
	c, err := r.Cookie(ThemeCookie)
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}
	return c.Value
}
