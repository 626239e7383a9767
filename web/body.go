package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// What a request may carry, in bytes, and how long it may take to arrive: files
// may take longer, at a rate that is no fault of the line.
const (
	maxBody     = 1 << 20
	bodyTimeout = 30 * time.Second
	bodyRate    = 16 << 10 // bytes a second
)

// limitBodyTime bounds how long the body of a request takes to arrive, whether anybody
// reads it or not: the server reads what is left before it lets go of the
// connection. Once it has all arrived the bound is off, since a stream may
// follow.
func limitBodyTime(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	b := &deadlineBody{ReadCloser: r.Body, ctl: http.NewResponseController(w)}
	b.setDeadline(time.Now().Add(bodyTimeout))
	r.Body = b
}

type deadlineBody struct {
	io.ReadCloser
	ctl *http.ResponseController
}

// setDeadline sets the deadline; not every writer has one.
func (b *deadlineBody) setDeadline(t time.Time) { _ = b.ctl.SetReadDeadline(t) }

func (b *deadlineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.setDeadline(time.Time{})
	}
	return n, err
}

// limitBodySize bounds the body of a request in size.
func limitBodySize(w http.ResponseWriter, r *http.Request, bytes int64) {
	r.Body = http.MaxBytesReader(w, r.Body, bytes)
}

// readBody reads a bounded body.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limitBodySize(w, r, maxBody)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err)
	}
	return body, nil
}

// bodyError makes an error of reading a request its sender's: it was too
// large, or ended early, came too slowly, or is not what it says it is.
func bodyError(err error) error {
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return err
	}
	return statusErrorf(http.StatusBadRequest, "The request's body could not be read: it is malformed, or ended too early.")
}

// parseForm parses a bounded, URL-encoded form.
func parseForm(w http.ResponseWriter, r *http.Request) error {
	limitBodySize(w, r, maxBody)
	if err := r.ParseForm(); err != nil {
		return bodyError(err)
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

func unsupportedMediaType(r *http.Request, want string) error {
	return statusErrorf(http.StatusUnsupportedMediaType, "The body's Content-Type must be %s, not %q.", want, r.Header.Get("Content-Type"))
}
