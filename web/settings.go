package web

import (
	"cmp"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/photons"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/site"
	"github.com/photon-beam/beam/web/internal/ui"
)

// settings serves the settings, and what this server is.
type settings struct {
	version string
	clients photons.Clients // nil if the MCP endpoint isn't served
	// isShared means that operators see the replicas.
	isShared bool
	site     *site.Site
	pages    *page.Renderer
}

// show renders the settings, and what this server is.
func (h *settings) show(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	c := h.pages.Chrome(r, caller, "Settings")
	base := links.Base(h.site.BaseURL(r))
	shown := ui.SettingsPage{Version: cmp.Or(h.version, "unknown"), Address: base.Home(), Caller: caller.ID, Replicas: h.isShared && caller.HasRole(generators.RoleOperator)}
	if h.clients != nil {
		shown.MCP, shown.ServesMCP, shown.Connected = base.MCP(), true, photons.ConnectedClients(h.clients, caller)
	}
	return h.pages.Render(w, r, http.StatusOK, ui.Settings(c, shown))
}

// change keeps the color scheme in a cookie.
func (h *settings) change(w http.ResponseWriter, r *http.Request, _ generators.Caller) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	theme := r.PostForm.Get("theme")
	cookie := &http.Cookie{Name: page.ThemeCookie, Value: theme, Path: string(h.site.Path) + "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil}
	switch theme {
	case "light", "dark":
	case "system":
		cookie.Value, cookie.MaxAge = "", -1
	default:
		return problem.Errorf(http.StatusBadRequest, "The field theme must be system, light or dark.")
	}
	http.SetCookie(w, cookie)
	return response.RedirectOrAccept(w, r, h.site.Path.Settings())
}
