// Package upstreams serves the pages of the MCP servers that Beam uses.
package upstreams

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Servers are the MCP servers whose tools are photons, as operators see them. Its
// methods may be called from several goroutines.
type Servers interface {
	// Status returns a snapshot of all upstreams, sorted by name.
	Status() []upstream.Status
	// Accept accepts a tool that is held back, if it is still as the digest says. The
	// error may wrap [policy.ErrToolNotFound] or [policy.ErrChangedAgain].
	Accept(name, tool, digest string) ([]string, error)
	// Reconnect ends the connection to an upstream and connects again.
	Reconnect(name string) error
	// Remove removes an upstream from the data folder's own file. The error may wrap
	// [config.ErrNotFound].
	Remove(name string) error
}

// Handlers serve the pages of upstreams to operators: configuration is nobody else's concern.
type Handlers struct {
	Servers Servers
	Links   links.Base
	Pages   *page.Renderer
}

// errUpstreamNotFound is the error for a name that no upstream has.
var errUpstreamNotFound = problem.Errorf(http.StatusNotFound, "There is no upstream of this name.")

// List lists the upstreams.
func (h *Handlers) List(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	all := h.Servers.Status()
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, map[string]any{"upstreams": response.NonNil(all)})
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.Upstreams(h.Pages.Chrome(r, caller, "Upstreams"), all))
}

// Show shows an upstream.
func (h *Handlers) Show(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	status, ok := h.find(r.PathValue("upstream"))
	if !ok {
		return errUpstreamNotFound
	}
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, status)
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.Upstream(h.Pages.Chrome(r, caller, status.Name), status))
}

func (h *Handlers) find(name string) (upstream.Status, bool) {
	all := h.Servers.Status()
	i := slices.IndexFunc(all, func(u upstream.Status) bool { return u.Name == name })
	if i < 0 {
		return upstream.Status{}, false
	}
	return all[i], true
}

// Operate does what an operator wants of an upstream, and leads back to its
// page.
func (h *Handlers) Operate(w http.ResponseWriter, r *http.Request, _ generators.Caller) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	name := r.PathValue("upstream")
	if _, ok := h.find(name); !ok {
		return errUpstreamNotFound
	}
	next, err := h.Links.Upstream(name), error(nil)
	switch r.PathValue("action") {
	case "accept":
		if r.PostForm.Get("tool") == "" || r.PostForm.Get("digest") == "" {
			return problem.Errorf(http.StatusBadRequest, "The fields tool and digest say what to accept.")
		}
		_, err = h.Servers.Accept(name, r.PostForm.Get("tool"), r.PostForm.Get("digest"))
	case "reconnect":
		err = h.Servers.Reconnect(name)
	case "remove":
		next, err = h.Links.Upstreams(), h.Servers.Remove(name)
	default:
		return problem.ErrPageNotFound
	}
	if err != nil {
		return describeUpstreamError(err)
	}
	if request.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// describeUpstreamError returns an error with its HTTP status.
func describeUpstreamError(err error) error {
	switch {
	case errors.Is(err, policy.ErrToolNotFound):
		return problem.Errorf(http.StatusNotFound, "No such tool is held back: it may have been accepted already.")
	case errors.Is(err, policy.ErrChangedAgain):
		return problem.Errorf(http.StatusConflict, "The tool has changed again. Go back, and look at it once more.")
	case errors.Is(err, config.ErrNotFound):
		return problem.Errorf(http.StatusConflict, "This upstream is not in the data folder's own file: remove it from the file that Beam was started with.")
	}
	return err
}

// Patches returns a function that renders the list of upstreams, or one upstream's page.
func (h *Handlers) Patches(r *http.Request, _ generators.Caller) func() []ui.Patch {
	name := r.URL.Query().Get("upstream")
	return func() []ui.Patch {
		if name == "" {
			return ui.ListPatches(ui.UpstreamList(h.Servers.Status()))
		}
		status, ok := h.find(name)
		if !ok {
			return ui.ListPatches(ui.UpstreamGone())
		}
		return ui.ListPatches(ui.UpstreamDetails(status))
	}
}

// Interval is how often a page of upstreams is rendered again. What hasn't
// changed isn't sent.
const Interval = time.Second
