package web

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/asks"
	"github.com/photon-beam/beam/web/internal/login"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/site"
	"github.com/photon-beam/beam/web/internal/ui"
)

// A callerHandler serves a request of an authenticated caller. An error that it returns
// becomes the response; it must not return one after starting a response.
type callerHandler func(http.ResponseWriter, *http.Request, generators.Caller) error

// An adapter makes handlers of functions that return errors: it finds out who sends a request,
// and writes the errors.
type adapter struct {
	callers *access.Callers
	clients *access.Clients // nil if MCP clients have no access tokens
	trail   *access.Trail
	login   *login.Handlers
	site    *site.Site
	pages   *page.Renderer
	logger  *slog.Logger
}

// authenticated adapts a handler: it identifies the caller and writes the error that the
// handler returns. It sends browsers that must sign in to the sign-in page.
func (a *adapter) authenticated(h callerHandler) http.Handler {
	return a.unauthenticated(func(w http.ResponseWriter, r *http.Request) error {
		isPage := request.WantsHTML(r) && r.Method == http.MethodGet
		r, caller, done, err := a.callers.Browser(w, r)
		if errors.Is(err, callers.ErrSignInRequired) && isPage {
			http.Redirect(w, r, a.site.Path.LoginThen(a.saveReturnPath(w, r)), http.StatusSeeOther)
			return nil
		}
		if err != nil {
			a.trail.Failed(r, err)
			return err
		}
		defer done()
		err = h(w, r, caller)
		if errors.Is(err, engine.ErrForbidden) && isPage && !a.callers.OwnSignIn {
			return a.renderForbidden(w, r)
		}
		if err != nil {
			a.writeError(w, r, caller, err)
		}
		return nil
	})
}

// ofProgram is [adapter.authenticated] for an endpoint that programs use, and no pages.
func (a *adapter) ofProgram(h callerHandler) http.Handler { return a.identified(a.callers.Program, h) }

// ofClient is [adapter.ofProgram] for an MCP endpoint, which may be a protected resource.
func (a *adapter) ofClient(h callerHandler) http.Handler {
	if a.clients == nil {
		return a.ofProgram(h)
	}
	return a.identified(a.clients.Client, h)
}

func (a *adapter) identified(identify access.Identifier, h callerHandler) http.Handler {
	return a.unauthenticated(func(w http.ResponseWriter, r *http.Request) error {
		r, caller, done, err := identify(w, r)
		if err != nil {
			a.trail.Failed(r, err)
			return err
		}
		defer done()
		return h(w, r, caller)
	})
}

// ofOperator restricts a handler to operators.
func (a *adapter) ofOperator(h callerHandler) callerHandler {
	return func(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
		if !caller.HasRole(generators.RoleOperator) {
			return problem.ErrOperatorsOnly
		}
		return h(w, r, caller)
	}
}

// unauthenticated adapts a handler that needs no authentication.
func (a *adapter) unauthenticated(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			a.reject(w, r, err)
		}
	})
}

// renderForbidden renders the sign-in page: a link carries no authority, but its owner
// may sign in.
func (a *adapter) renderForbidden(w http.ResponseWriter, r *http.Request) error {
	text := "This belongs to someone else. Sign in as its owner to see it."
	if r.Pattern == asks.Pattern {
		text = asks.OthersQuestion + " If the question is yours, sign in as the person whose tool asks it."
	}
	return a.login.Render(w, r, http.StatusForbidden, text, a.saveReturnPath(w, r))
}

// saveReturnPath saves in a cookie where the browser is to return once it has signed in.
func (a *adapter) saveReturnPath(w http.ResponseWriter, r *http.Request) string {
	to := a.site.RequestPath(r)
	a.callers.Sessions.SaveReturnPath(w, r, to)
	return to
}

// writeError writes an error as a page or as JSON, as the request prefers. The page has
// the lists of the caller; the zero Caller, who is not known, gets none.
func (a *adapter) writeError(w http.ResponseWriter, r *http.Request, caller generators.Caller, err error) {
	status, text, fields := problem.Classify(err)
	if status == http.StatusInternalServerError {
		a.logger.Error("serving a request", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	if status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="beam"`)
	}
	problem.SetRetryAfter(w, status, err)
	if !request.WantsHTML(r) {
		response.JSON(w, status, map[string]any{"error": errorJSON{text, fields, parkedIn(err)}})
		return
	}
	title, on := http.StatusText(status), a.linkFromError(r, caller)
	if own, ok := errors.AsType[*problem.Error](err); ok && own.Title != "" {
		title, on = own.Title, ui.Link{URL: own.URL, Text: own.Link}
	}
	a.pages.Render(w, r, status, ui.ErrorPage(a.pages.Chrome(r, caller, title), status, title, text, on))
}

// parkedIn returns why a run is parked if that is what is wrong.
func parkedIn(err error) *runlog.Parked {
	if parked, ok := errors.AsType[*engine.ParkedError](err); ok {
		return parked.Parked
	}
	return nil
}

// reject writes the error of a request that isn't served, whoever sends it.
func (a *adapter) reject(w http.ResponseWriter, r *http.Request, err error) {
	a.writeError(w, r, generators.Caller{}, err)
}

// linkFromError returns where an error page leads: to the list that the requested page
// belongs to. Who is not known may sign in, if they must.
func (a *adapter) linkFromError(r *http.Request, caller generators.Caller) ui.Link {
	if caller.ID == "" {
		switch {
		case a.callers.RequiresSignIn && r.URL.Path != "/login":
			return ui.Link{URL: a.site.Path.Login(), Text: "Sign in"}
		case a.callers.OwnSignIn: // the other program knows how
			return ui.Link{}
		}
	}
	switch area, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); area {
	case "runs":
		return ui.Link{URL: a.site.Path.Runs(), Text: "Show all runs"}
	case "asks":
		return ui.Link{URL: a.site.Path.Inbox(), Text: "Show all questions"}
	case "docs":
		return ui.Link{URL: a.site.Path.Docs(), Text: "Show all documents"}
	}
	return ui.Link{URL: a.site.Path.Home(), Text: "Show all photons"}
}

type errorJSON struct {
	Message string                  `json:"message"`
	Fields  []generators.FieldError `json:"fields,omitempty"`
	Parked  *runlog.Parked          `json:"parked,omitempty"` // why the run can't go on
}
