package request

import (
	"net/http"
	"strings"

	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/runlog"
)

// WantsHTML reports whether the request is a browser's navigation.
func WantsHTML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/html") && r.Header.Get("Datastar-Request") == ""
}

// WantsJSON reports whether the client asks for JSON.
func WantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// IsDatastar reports whether Datastar sent the request. It morphs the body of a
// 200 response into the page and ignores the body of any other response.
func IsDatastar(r *http.Request) bool { return r.Header.Get("Datastar-Request") == "true" }

// TerminalSurface is what logs call the terminal.
const TerminalSurface = "terminal"

// IsTerminal reports whether a request says that it comes from a terminal.
func IsTerminal(r *http.Request) bool { return r.Header.Get(links.SurfaceHeader) == TerminalSurface }

// SurfaceOf returns the surface that a program's request comes from.
func SurfaceOf(r *http.Request) string {
	if IsTerminal(r) {
		return TerminalSurface
	}
	return "http"
}

// RenderedInTerminal returns how much of what a question shows a terminal has rendered, by
// its own account.
func RenderedInTerminal(r *http.Request) runlog.Rendering {
	switch rendered := runlog.Rendering(r.Header.Get(links.RenderedHeader)); rendered {
	case runlog.RenderedFull, runlog.RenderedTruncated:
		return rendered
	}
	return runlog.RenderedNothing
}
