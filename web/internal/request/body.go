// Package request reads requests: bodies within limits, parameters, and what the client wants.
package request

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/photon-beam/beam/web/internal/problem"
)

// Limits on a request's body. Uploads may take longer than bodyTimeout if they keep up
// bodyRate.
const (
	// MaxBody is the size of the largest body but of uploads, in bytes.
	MaxBody     = 1 << 20
	bodyTimeout = 30 * time.Second
	bodyRate    = 16 << 10 // bytes per second
)

// LimitBodyTime limits how long a request's body may take to arrive, even if the handler
// doesn't read it: the server reads the rest before it reuses the connection. It clears
// the deadline at the end of the body, since a stream may follow.
func LimitBodyTime(w http.ResponseWriter, r *http.Request) {
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

// LimitBodySize limits the size of a request's body.
func LimitBodySize(w http.ResponseWriter, r *http.Request, bytes int64) {
	r.Body = http.MaxBytesReader(w, r.Body, bytes)
}

// ReadBody reads a body of at most MaxBody bytes.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	LimitBodySize(w, r, MaxBody)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, BodyError(err)
	}
	return body, nil
}

// BodyError turns an error from reading a body into one that blames the request: too
// large, truncated, too slow or malformed.
func BodyError(err error) error {
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return err
	}
	return problem.Errorf(http.StatusBadRequest, "The request body is malformed or incomplete.")
}

// ParseForm parses a URL-encoded form of at most MaxBody bytes.
func ParseForm(w http.ResponseWriter, r *http.Request) error {
	LimitBodySize(w, r, MaxBody)
	if err := r.ParseForm(); err != nil {
		return BodyError(err)
	}
	return nil
}

// ParseAnyForm parses a form without files in either encoding.
func ParseAnyForm(w http.ResponseWriter, r *http.Request) error {
	if MediaType(r) == FormType {
		return ParseForm(w, r)
	}
	LimitBodySize(w, r, MaxBody)
	if err := r.ParseMultipartForm(MaxBody); err != nil {
		return BodyError(err)
	}
	return nil
}

// Media types of request bodies.
const (
	JSONType      = "application/json"
	FormType      = "application/x-www-form-urlencoded"
	MultipartType = "multipart/form-data"
)

// MediaType returns the media type of a request's body; empty if it has none.
func MediaType(r *http.Request) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

// UnsupportedMediaType is the error for a request whose body is of another type than those wanted.
func UnsupportedMediaType(r *http.Request, want string) error {
	return problem.Errorf(http.StatusUnsupportedMediaType, "The Content-Type must be %s, not %q.", want, r.Header.Get("Content-Type"))
}

// An UploadReader extends the read deadline as long as data arrives, and keeps the error
// of reading, to distinguish it from an error of the store.
type UploadReader struct {
	io.Reader
	ctl      *http.ResponseController
	deadline time.Time
	Err      error
}

// NewUploadReader returns a reader of a request's body, or of a part of it.
func NewUploadReader(w http.ResponseWriter, body io.Reader) *UploadReader {
	return &UploadReader{Reader: body, ctl: http.NewResponseController(w), deadline: time.Now().Add(bodyTimeout)}
}

// Read implements [io.Reader].
func (u *UploadReader) Read(b []byte) (int, error) {
	_ = u.ctl.SetReadDeadline(u.deadline) // not every writer supports it
	n, err := u.Reader.Read(b)
	u.deadline = u.deadline.Add(time.Duration(n) * time.Second / bodyRate)
	if err != nil && !errors.Is(err, io.EOF) {
		u.Err = err
	}
	return n, err
}
