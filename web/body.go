package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// What a request may carry, in bytes, and how long it may take to arrive.
const (
	maxBody     = 1 << 20
	bodyTimeout = 30 * time.Second
)

// limitBody bounds the body of a request in size and in time.
func limitBody(w http.ResponseWriter, r *http.Request, bytes int64) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // not every writer has one
	r.Body = http.MaxBytesReader(w, r.Body, bytes)
}

// bodyDone takes the deadline off again, so that the connection can be used
// for what comes next.
func bodyDone(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// readAll reads a bounded body.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limitBody(w, r, maxBody)
	defer bodyDone(w)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, unreadable(err)
	}
	return body, nil
}

// unreadable makes an error of reading a request its sender's: it was too
// large, or ended early, came too slowly, or is not what it says it is.
func unreadable(err error) error {
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return err
	}
	return refuse(http.StatusBadRequest, "The request's body could not be read: it is malformed, or ended too early.")
}

// readForm parses a bounded, URL-encoded form.
func readForm(w http.ResponseWriter, r *http.Request) error {
	limitBody(w, r, maxBody)
	defer bodyDone(w)
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
	return nil
}

// Media types of bodies.
const (
	jsonType      = "application/json"
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
)

func mediaType(r *http.Request) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func unsupported(r *http.Request, want string) error {
	return refuse(http.StatusUnsupportedMediaType, "The body's Content-Type must be %s, not %q.", want, r.Header.Get("Content-Type"))
}
