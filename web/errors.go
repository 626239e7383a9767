package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/log/room"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/ui"
)

// A handler serves a request of a known caller. What it returns becomes the
// response, unless it has begun one.
type handler func(http.ResponseWriter, *http.Request, run.Caller) error

// A statusError is a refusal with a status of its own and words for the caller.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &statusError{status, fmt.Sprintf(format, args...)}
}

var (
	errNoPage = refuse(http.StatusNotFound, "There is nothing at this address.")
	errSignIn = refuse(http.StatusUnauthorized, "Sign in first: send the token as Authorization: Bearer, or open /login in a browser.")
)

// statuses maps the engine's refusals to HTTP statuses.
var statuses = []struct {
	err    error
	status int
}{
	{run.ErrNoPhoton, http.StatusNotFound},
	{run.ErrNotFound, http.StatusNotFound},
	{run.ErrNoAsk, http.StatusNotFound},
	{blob.ErrNotFound, http.StatusNotFound},
	{run.ErrForbidden, http.StatusForbidden},
	{run.ErrSettled, http.StatusConflict},
	{run.ErrReused, http.StatusUnprocessableEntity},
	{run.ErrTooMany, http.StatusTooManyRequests},
	{run.ErrClosing, http.StatusServiceUnavailable},
	{log.ErrUnavailable, http.StatusServiceUnavailable},
	{log.ErrInDoubt, http.StatusServiceUnavailable},
}

// diskFull says what is true of a disk that df says has some room.
var diskFull = fmt.Sprintf("The disk is full: Beam leaves its last %d MiB free. Make room on it, and all goes on by itself.", room.Spare>>20)

// classify returns the status of an error and what the caller may read of it.
// Causes that are our own are for the log only.
func classify(err error) (status int, text string, fields []generators.FieldError) {
	var own *statusError
	var invalid *generators.InvalidError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own.status, own.text, nil
	case errors.As(err, &invalid):
		return http.StatusUnprocessableEntity, "Some values don't fit.", invalid.Fields
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("The request is too large: at most %d bytes are taken.", large.Limit), nil
	case errors.Is(err, log.ErrFull):
		return http.StatusServiceUnavailable, diskFull, nil
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status, sentence(s.err.Error()), nil
		}
	}
	return http.StatusInternalServerError, "Something went wrong on our side; the log says what.", nil
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// fail writes an error in the form that the request wants: a page, or JSON.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, text, fields := classify(err)
	if status == http.StatusInternalServerError {
		s.logger.Error("serving a request", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="beam"`)
	}
	if !wantsPage(r) {
		writeJSON(w, status, map[string]any{"error": errorBody{text, fields}})
		return
	}
	s.render(w, r, status, ui.ErrorPage(s.chrome(r, nil, http.StatusText(status)), status, http.StatusText(status), text))
}

type errorBody struct {
	Message string                  `json:"message"`
	Fields  []generators.FieldError `json:"fields,omitempty"`
}

// wantsPage tells a browser that navigates from a script.
func wantsPage(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/html") && r.Header.Get("Datastar-Request") == ""
}

// wantsJSON tells a script that asks for JSON.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":{"message":"the response has no JSON form"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(raw, '\n'))
}
