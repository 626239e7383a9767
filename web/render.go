package web

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/assets"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/datastar"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/ui"
)

// render writes a component after rendering all of it, so that an error results in an
// error page instead of a truncated one.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	page, err := ui.Render(r.Context(), c)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Accept, Cookie")
	w.WriteHeader(status)
	if _, err := w.Write(page); err != nil {
		s.logger.Debug("writing a page", "path", r.URL.Path, "err", err)
	}
	return nil
}

// newChrome returns the bar and the sidebar of a page.
func (s *Server) newChrome(r *http.Request, caller generators.Caller, title string) ui.Chrome {
	c := ui.Chrome{
		Title: title, Style: s.assetURL("beam.css"), Icon: s.assetURL("icons/beam.svg"), Script: s.assetURL(datastar.Script), OwnScript: s.assetURL("beam.js"), Modules: s.scriptModules(),
		SignInCommand: s.signInCommand,
	}
	c.Theme = themeOf(r)
	if caller.ID == "" {
		c.Anonymous = true
		return c
	}
	c.Person = caller.Name
	if s.identifier == nil && callers.IsSignedIn(caller) {
		c.SignedIn, c.Person = s.hasSession(r), callers.Describe(caller.ID, caller.Name)
	}
	c.Upstreams = s.mayOperateUpstreams(caller)
	current := r.PathValue("name") // of a photon's page
	s.photonList(caller).addTo(&c, current)
	if err := s.addLists(&c, caller); err != nil {
		s.logger.Error("listing runs and questions beside a page", "err", err)
	}
	return c
}

// addLists adds the runs and the number of questions that stand beside each page.
func (s *Server) addLists(c *ui.Chrome, caller generators.Caller) (err error) {
	if c.OpenAsks, err = s.engine.CountOpenAsks(caller); err != nil {
		return err
	}
	if s.maySignIn(caller) {
		if c.ClientWaits, err = s.engine.HasOpenAsk(callers.LocalClient(), startedByClient); err != nil {
			return err
		}
	}
	recent, err := s.engine.Runs(caller, maxRecentRuns, nil)
	c.RecentRuns = s.runLines(caller, recent)
	return err
}

// maySignIn reports whether the caller is a browser that sees more once it has signed in.
func (s *Server) maySignIn(caller generators.Caller) bool {
	return s.identifier == nil && !s.requiresSignIn && caller.ID != "" && !callers.IsSignedIn(caller)
}

// startedByClient reports whether an MCP client started the run.
func startedByClient(i engine.Info) bool {
	surface, _, _ := strings.Cut(i.Surface, " ") // or "mcp task"
	return surface == "mcp"
}

// scriptModules returns the URLs of the modules that beam.js imports.
func (s *Server) scriptModules() []string {
	modules := assets.Pages().Imports("beam.js")
	for i, url := range modules {
		modules[i] = s.links.To(url)
	}
	return modules
}

// assetURL returns the URL of a file of package static; empty if there is none.
func (s *Server) assetURL(name string) string {
	if !assets.Pages().Has(name) {
		return ""
	}
	return s.links.To(assets.Pages().URL(name))
}
