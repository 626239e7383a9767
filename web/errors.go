package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// writeError writes an error as a page or as JSON, as the request prefers. The page has
// the lists of the caller; the zero Caller, who is not known, gets none.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, caller generators.Caller, err error) {
	status, text, fields := problem.Classify(err)
	if status == http.StatusInternalServerError {
		s.logger.Error("serving a request", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	if status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="beam"`)
	}
	problem.SetRetryAfter(w, status, err)
	if !request.WantsHTML(r) {
		response.JSON(w, status, map[string]any{"error": errorJSON{text, fields}})
		return
	}
	title, on := http.StatusText(status), s.linkFromError(r, caller)
	if own, ok := errors.AsType[*problem.Error](err); ok && own.Title != "" {
		title, on = own.Title, ui.Link{URL: own.URL, Text: own.Link}
	}
	s.render(w, r, status, ui.ErrorPage(s.newChrome(r, caller, title), status, title, text, on))
}

// linkFromError returns where an error page leads: to the list that the requested page
// belongs to. Who is not known may sign in, if they must.
func (s *Server) linkFromError(r *http.Request, caller generators.Caller) ui.Link {
	if caller.ID == "" {
		switch {
		case s.requiresSignIn && r.URL.Path != "/login":
			return ui.Link{URL: s.links.Login(), Text: "Sign in"}
		case s.identifier != nil: // the other program knows how
			return ui.Link{}
		}
	}
	switch area, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); area {
	case "runs":
		return ui.Link{URL: s.links.Runs(), Text: "Show all runs"}
	case "asks":
		return ui.Link{URL: s.links.Inbox(), Text: "Show all questions"}
	case "docs":
		return ui.Link{URL: s.links.Docs(), Text: "Show all documents"}
	}
	return ui.Link{URL: s.links.Home(), Text: "Show all photons"}
}

type errorJSON struct {
	Message string                  `json:"message"`
	Fields  []generators.FieldError `json:"fields,omitempty"`
}
