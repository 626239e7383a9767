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

// hurry bounds how long the body of a request takes to arrive, whether anybody
// reads it or not: the server reads what is left before it lets go of the
// connection. Once it has all arrived the bound is off, since a stream may
// follow.
func hurry(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	b := &timed{ReadCloser: r.Body, ctl: http.NewResponseController(w)}
	b.until(time.Now().Add(bodyTimeout))
	r.Body = b
}

type timed struct {
	io.ReadCloser
	ctl *http.ResponseController
}

// until sets the deadline; not every writer has one.
func (b *timed) until(t time.Time) { _ = b.ctl.SetReadDeadline(t) }

func (b *timed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.until(time.Time{})
	}
	return n, err
}

// limitBody bounds the body of a request in size.
func limitBody(w http.ResponseWriter, r *http.Request, bytes int64) {
	r.Body = http.MaxBytesReader(w, r.Body, bytes)
}

// readAll reads a bounded body.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limitBody(w, r, maxBody)
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
