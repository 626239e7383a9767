// Package response writes what many handlers respond with.
package response

import (
	"encoding/json"
	"mime"
	"net/http"
	"time"

	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/mcp/streamable"
	"github.com/photon-beam/beam/web/internal/request"
)

// JSON writes a value as JSON. It returns nil, for handlers to return.
func JSON(w http.ResponseWriter, status int, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":{"message":"the response could not be encoded"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(raw, '\n'))
	return nil
}

// RedirectOrAccept responds to a request that changed something: it redirects a browser
// without script. Other clients learn of the change from the stream.
func RedirectOrAccept(w http.ResponseWriter, r *http.Request, page string) error {
	if request.WantsHTML(r) {
		http.Redirect(w, r, page, http.StatusSeeOther)
		return nil
	}
	streamable.WriteAccepted(w)
	return nil
}

// Attachment makes the response a file of a name.
func Attachment(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// Started responds with the URLs of a run that was started.
func Started(w http.ResponseWriter, links links.Base, run string) error {
	w.Header().Set("Location", links.Run(run))
	return JSON(w, http.StatusCreated, map[string]string{"id": run, "url": links.Run(run), "events": links.RunEvents(run)})
}

// Timeout is how long a client may take to read a whole response, such as a large file.
const Timeout = 10 * time.Minute

// SetDeadline limits how long the client may take to read the response, so that one
// that reads nothing doesn't keep it indefinitely.
func SetDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(Timeout)) // not every writer supports it
}

// NonNil returns an empty list for nil, which JSON would encode as null.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
