package web

import (
	"cmp"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// themeCookie keeps the color scheme that a person chose, in this browser.
const themeCookie = "beam_theme"

// themeOf returns the color scheme that a request's browser is to use; empty for that of
// its system.
func themeOf(r *http.Request) string {
	c, err := r.Cookie(themeCookie)
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}
	return c.Value
}

// handleSettings renders the settings, and what this server is.
func (s *Server) handleSettings(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	c := s.newChrome(r, caller, "Settings")
	base := links.Base(s.baseURL(r))
	page := ui.SettingsPage{Version: cmp.Or(s.version, "unknown"), Address: base.Home(), Caller: caller.ID}
	if s.mcpHandler != nil {
		page.MCP, page.ServesMCP, page.Connected = base.MCP(), true, s.connectedClients(caller)
	}
	return s.render(w, r, http.StatusOK, ui.Settings(c, page))
}

// handleChangeSettings keeps the color scheme in a cookie.
func (s *Server) handleChangeSettings(w http.ResponseWriter, r *http.Request, _ generators.Caller) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	theme := r.PostForm.Get("theme")
	cookie := &http.Cookie{Name: themeCookie, Value: theme, Path: string(s.links) + "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil}
	switch theme {
	case "light", "dark":
	case "system":
		cookie.Value, cookie.MaxAge = "", -1
	default:
		return problem.Errorf(http.StatusBadRequest, "The field theme must be system, light or dark.")
	}
	http.SetCookie(w, cookie)
	return response.RedirectOrAccept(w, r, s.links.Settings())
}
