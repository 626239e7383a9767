package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/internal/ui"
)

// A statusError is an error with an HTTP status and a message for the caller.
type statusError struct {
	status int
	text   string
	title  string  // of its page, if that isn't the status's text
	on     ui.Link // where such a page leads
}

func (e *statusError) Error() string { return e.text }

func statusErrorf(status int, format string, args ...any) error {
	return &statusError{status: status, text: fmt.Sprintf(format, args...)}
}

var errPageNotFound = statusErrorf(http.StatusNotFound, "Page not found.")

// errorStatuses maps errors to HTTP statuses.
var errorStatuses = []struct {
	err    error
	status int
}{
	{callers.ErrSignInRequired, http.StatusUnauthorized},
	{identity.ErrNotSignedIn, http.StatusUnauthorized},
	{callers.ErrForbidden, http.StatusForbidden},
	{engine.ErrPhotonNotFound, http.StatusNotFound},
	{engine.ErrRunNotFound, http.StatusNotFound},
	{engine.ErrAskNotFound, http.StatusNotFound},
	{blob.ErrNotFound, http.StatusNotFound},
	{operatorsOnlyError{}, http.StatusForbidden}, // before what it wraps
	{engine.ErrForbidden, http.StatusForbidden},
	{engine.ErrOthersAnswer, http.StatusForbidden},
	{engine.ErrInputUnknown, http.StatusConflict},
	{engine.ErrRunEnded, http.StatusConflict},
	{engine.ErrRunNotEnded, http.StatusConflict},
	{engine.ErrRunInUse, http.StatusConflict},
	{engine.ErrDeletionPaused, http.StatusConflict},
	{engine.ErrSettled, http.StatusConflict},
	{engine.ErrSamplingChanged, http.StatusConflict},
	{sampling.ErrNoReply, http.StatusConflict},
	{sampling.ErrNotReplying, http.StatusConflict},
	{sampling.ErrNotForModel, http.StatusConflict},
	{sampling.ErrNoStanding, http.StatusNotFound},
	{engine.ErrIdempotencyKeyReused, http.StatusUnprocessableEntity},
	{engine.ErrTooManyRuns, http.StatusTooManyRequests},
	{engine.ErrClosing, http.StatusServiceUnavailable},
	{runlog.ErrUnavailable, http.StatusServiceUnavailable},
	{runlog.ErrUncertain, http.StatusServiceUnavailable},
}

// diskFullText explains why writes fail although df reports free space.
var diskFullText = fmt.Sprintf("The disk is full: Beam keeps %d MiB free. Free some space, and Beam continues by itself.", diskspace.DefaultMinFree>>20)

// classifyError returns the HTTP status of an error and the message for the caller.
// Internal causes go to the log only.
func classifyError(err error) (status int, text string, fields []generators.FieldError) {
	var own *statusError
	var invalid *generators.InvalidError
	var large *http.MaxBytesError
	var others *engine.OthersAnswerError
	var exceeded *budget.ExceededError
	var tooMany *signin.TooManyError
	var refused *callers.RefusedError
	var damaged *runlog.DamagedError
	switch {
	case errors.As(err, &own):
		return own.status, own.text, nil
	case errors.As(err, &invalid):
		return http.StatusUnprocessableEntity, describeInvalid(invalid), invalid.Fields
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("The request is too large. The limit is %d bytes.", large.Limit), nil
	case errors.As(err, &refused) && refused.Forbidden:
		return http.StatusForbidden, refused.Text, nil
	case errors.As(err, &refused):
		return http.StatusUnauthorized, refused.Text, nil
	case errors.As(err, &others):
		return http.StatusForbidden, asSentence(others.Error()), nil
	case errors.As(err, &tooMany):
		return http.StatusTooManyRequests, asSentence(tooMany.Error()), nil
	case errors.As(err, &exceeded):
		return exceeded.Status(), asSentence(exceeded.Error()), nil
	case errors.As(err, &damaged):
		return http.StatusInternalServerError, asSentence(damaged.Error()), nil
	case errors.Is(err, runlog.ErrDiskFull):
		return http.StatusServiceUnavailable, diskFullText, nil
	}
	for _, s := range errorStatuses {
		if errors.Is(err, s.err) {
			return s.status, asSentence(s.err.Error()), nil
		}
	}
	return http.StatusInternalServerError, "Internal error. See the log for details.", nil
}

// describeInvalid returns the first errors of an invalid value, in sentences.
func describeInvalid(err *generators.InvalidError) string {
	const most = 3
	var sentences []string
	for _, f := range err.Fields[:min(len(err.Fields), most)] {
		sentences = append(sentences, f.Sentence(""))
	}
	if more := len(err.Fields) - most; more > 0 {
		sentences = append(sentences, humanize.CountOf(more, "more error.", "more errors."))
	}
	return strings.Join(sentences, " ")
}

func asSentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// writeError writes an error as a page or as JSON, as the request prefers. The page has
// the lists of the caller; the zero Caller, who is not known, gets none.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, caller generators.Caller, err error) {
	status, text, fields := classifyError(err)
	if status == http.StatusInternalServerError {
		s.logger.Error("serving a request", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	if status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="beam"`)
	}
	setRetryAfter(w, status, err)
	if !wantsHTML(r) {
		writeJSON(w, status, map[string]any{"error": errorJSON{text, fields}})
		return
	}
	title, on := http.StatusText(status), s.linkFromError(r, caller)
	var own *statusError
	if errors.As(err, &own) && own.title != "" {
		title, on = own.title, own.on
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

// defaultRetryAfter is when a client may try again that was refused for a reason that
// passes by itself.
const defaultRetryAfter = 5 * time.Second

// setRetryAfter says when a request that was refused may be sent again.
func setRetryAfter(w http.ResponseWriter, status int, err error) {
	after := defaultRetryAfter
	var exceeded *budget.ExceededError
	var tooMany *signin.TooManyError
	switch {
	case errors.As(err, &exceeded):
		after = exceeded.RetryAfter
	case errors.As(err, &tooMany):
		after = tooMany.RetryAfter
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(after.Seconds())))
	}
}

type errorJSON struct {
	Message string                  `json:"message"`
	Fields  []generators.FieldError `json:"fields,omitempty"`
}

// wantsHTML reports whether the request is a browser's navigation.
func wantsHTML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/html") && r.Header.Get("Datastar-Request") == ""
}

// wantsJSON reports whether the client asks for JSON.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":{"message":"the response could not be encoded"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(raw, '\n'))
}
