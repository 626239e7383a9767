package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// Limits on a request's body. Uploads may take longer than bodyTimeout if they keep up
// bodyRate.
const (
	maxBody     = 1 << 20 // bytes
	bodyTimeout = 30 * time.Second
	bodyRate    = 16 << 10 // bytes per second
)

// limitBodyTime limits how long a request's body may take to arrive, even if the handler
// doesn't read it: the server reads the rest before it reuses the connection. It clears
// the deadline at the end of the body, since a stream may follow.
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

// setDeadline sets the read deadline, if the writer supports one.
func (b *deadlineBody) setDeadline(t time.Time) { _ = b.ctl.SetReadDeadline(t) }

func (b *deadlineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.setDeadline(time.Time{})
	}
	return n, err
}

// limitBodySize limits the size of a request's body.
func limitBodySize(w http.ResponseWriter, r *http.Request, bytes int64) {
	r.Body = http.MaxBytesReader(w, r.Body, bytes)
}

// readBody reads a body of at most maxBody bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limitBodySize(w, r, maxBody)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err)
	}
	return body, nil
}

// bodyError turns an error from reading a body into one that blames the request: too
// large, truncated, too slow or malformed.
func bodyError(err error) error {
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return err
	}
	return statusErrorf(http.StatusBadRequest, "The request body is malformed or incomplete.")
}

// parseForm parses a URL-encoded form of at most maxBody bytes.
func parseForm(w http.ResponseWriter, r *http.Request) error {
	limitBodySize(w, r, maxBody)
	if err := r.ParseForm(); err != nil {
		return bodyError(err)
	}
	return nil
}

// Media types of request bodies.
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
	return statusErrorf(http.StatusUnsupportedMediaType, "The Content-Type must be %s, not %q.", want, r.Header.Get("Content-Type"))
}
