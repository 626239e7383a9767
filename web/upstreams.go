package web

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Upstreams are the MCP servers whose tools are photons, as operators see them. Its
// methods may be called from several goroutines.
type Upstreams interface {
	// Status returns a snapshot of all upstreams, sorted by name.
	Status() []upstream.Status
	// Accept accepts a tool that is held back, if it is still as the digest says. The
	// error may wrap [upstream.ErrToolNotFound] or [upstream.ErrChangedAgain].
	Accept(name, tool, digest string) ([]string, error)
	// Reconnect ends the connection to an upstream and connects again.
	Reconnect(name string) error
	// Remove removes an upstream from the data folder's own file. The error may wrap
	// [config.ErrNotFound].
	Remove(name string) error
}

// errUpstreamNotFound is the error for a name that no upstream has.
var errUpstreamNotFound = statusErrorf(http.StatusNotFound, "There is no upstream of this name.")

// routeUpstreams adds the pages of upstreams.
func (s *Server) routeUpstreams(page func(string, callerHandler), mux *http.ServeMux) {
	if s.upstreams == nil {
		return
	}
	page("GET /upstreams", s.forOperators(s.handleUpstreams))
	page("GET /upstreams/{upstream}", s.forOperators(s.handleUpstream))
	mux.Handle("POST /upstreams/{upstream}/{action}", s.authenticated(s.forOperators(s.handleOperateUpstream)))
}

// forOperators restricts a handler to operators: configuration is nobody else's concern.
func (s *Server) forOperators(h callerHandler) callerHandler {
	return func(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
		if !s.mayOperateUpstreams(caller) {
			return operatorsOnlyError{}
		}
		return h(w, r, caller)
	}
}

// An operatorsOnlyError is a kind of [engine.ErrForbidden] that says who may.
type operatorsOnlyError struct{}

func (operatorsOnlyError) Error() string { return "only operators may do this" }
func (operatorsOnlyError) Unwrap() error { return engine.ErrForbidden }

// mayOperateUpstreams reports whether the caller sees the pages of upstreams.
func (s *Server) mayOperateUpstreams(caller generators.Caller) bool {
	return s.upstreams != nil && caller.HasRole(generators.RoleOperator)
}

func (s *Server) handleUpstreams(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	all := s.upstreams.Status()
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"upstreams": nonNil(all)})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Upstreams(s.newChrome(r, caller, "Upstreams"), all))
}

func (s *Server) handleUpstream(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	status, ok := s.findUpstream(r.PathValue("upstream"))
	if !ok {
		return errUpstreamNotFound
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, status)
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Upstream(s.newChrome(r, caller, status.Name), status))
}

// lookupPhoton returns the photon that a request's path names. If that is a tool which an
// upstream has and Beam doesn't offer, the error says why to those who may use the upstream.
func (s *Server) lookupPhoton(r *http.Request, caller generators.Caller) (*generators.Photon, error) {
	name := r.PathValue("name")
	if p, ok := s.engine.LookupPhoton(caller, name); ok {
		return p, nil
	}
	server, tool, ok := s.findUnoffered(name)
	mayOperate := s.mayOperateUpstreams(caller)
	if !ok || !mayOperate && !s.photonList(caller).hasServer(server) {
		return nil, engine.ErrPhotonNotFound
	}
	err := &statusError{status: http.StatusNotFound, title: "Tool not offered", text: name + " isn’t offered. " + tool.Reason, on: ui.Link{URL: s.links.Home(), Text: "Show all photons"}}
	if tool.Decision == upstream.Held {
		err.title, err.text = "Tool held back", name+" is held back. "+tool.Reason+" Nobody can call it until an operator has looked at it and accepts it."
	}
	if mayOperate {
		err.on = ui.Link{URL: s.links.Upstream(server), Text: "Show the MCP server " + server}
		if tool.Decision == upstream.Held {
			err.on = ui.Link{URL: s.links.Upstream(server) + "#held", Text: "Review what changed"}
		}
	}
	return nil, err
}

// findUnoffered returns the tool of an upstream that Beam would offer under a name, if it
// didn't hold it back and could offer it.
func (s *Server) findUnoffered(name string) (server string, tool upstream.ToolStatus, ok bool) {
	if _, ok := catalogue.SplitName(name); !ok || s.upstreams == nil {
		return "", tool, false
	}
	for _, u := range s.upstreams.Status() {
		for _, t := range u.Tools {
			if (t.Decision == upstream.Held || t.Decision == upstream.Skipped) && catalogue.JoinName(u.Name, t.Name) == name {
				return u.Name, t, true
			}
		}
	}
	return "", tool, false
}

func (s *Server) findUpstream(name string) (upstream.Status, bool) {
	all := s.upstreams.Status()
	i := slices.IndexFunc(all, func(u upstream.Status) bool { return u.Name == name })
	if i < 0 {
		return upstream.Status{}, false
	}
	return all[i], true
}

// handleOperateUpstream does what an operator wants of an upstream, and leads back to its
// page.
func (s *Server) handleOperateUpstream(w http.ResponseWriter, r *http.Request, _ generators.Caller) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	name := r.PathValue("upstream")
	if _, ok := s.findUpstream(name); !ok {
		return errUpstreamNotFound
	}
	next, err := s.links.Upstream(name), error(nil)
	switch r.PathValue("action") {
	case "accept":
		if r.PostForm.Get("tool") == "" || r.PostForm.Get("digest") == "" {
			return statusErrorf(http.StatusBadRequest, "The fields tool and digest say what to accept.")
		}
		_, err = s.upstreams.Accept(name, r.PostForm.Get("tool"), r.PostForm.Get("digest"))
	case "reconnect":
		err = s.upstreams.Reconnect(name)
	case "remove":
		next, err = s.links.Upstreams(), s.upstreams.Remove(name)
	default:
		return errPageNotFound
	}
	if err != nil {
		return describeUpstreamError(err)
	}
	if wantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// describeUpstreamError returns an error with its HTTP status.
func describeUpstreamError(err error) error {
	switch {
	case errors.Is(err, upstream.ErrToolNotFound):
		return statusErrorf(http.StatusNotFound, "No such tool is held back: it may have been accepted already.")
	case errors.Is(err, upstream.ErrChangedAgain):
		return statusErrorf(http.StatusConflict, "The tool has changed again. Go back, and look at it once more.")
	case errors.Is(err, config.ErrNotFound):
		return statusErrorf(http.StatusConflict, "This upstream is not in the data folder's own file: remove it from the file that Beam was started with.")
	}
	return err
}

// upstreamPatches renders the list of upstreams, or one upstream's page.
func (s *Server) upstreamPatches(name string) []ui.Patch {
	if name == "" {
		return ui.ListPatches(ui.UpstreamList(s.upstreams.Status()))
	}
	status, ok := s.findUpstream(name)
	if !ok {
		return ui.ListPatches(ui.UpstreamGone())
	}
	return ui.ListPatches(ui.UpstreamDetails(status))
}

// upstreamInterval is how often a page of upstreams is rendered again. What hasn't
// changed isn't sent.
const upstreamInterval = time.Second

// everyInterval yields at once, and then at intervals until ctx ends.
func everyInterval(ctx context.Context, d time.Duration) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		for yield(struct{}{}) && sse.Sleep(ctx, d) {
		}
	}
}
