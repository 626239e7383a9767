package request

import (
	"errors"
	"io"
	"net/http"
	"time"
)

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
