package streamable

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// ReadBody reads the JSON that was posted. It writes an error response and reports false
// if it can't.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		WriteError(w, http.StatusUnsupportedMediaType, nil, message.Errorf(mcp.INVALID_REQUEST, "the body must be application/json"))
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, message.MaxSize))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		WriteError(w, http.StatusRequestEntityTooLarge, nil, message.Errorf(mcp.INVALID_REQUEST, "a message has at most %d bytes", message.MaxSize))
		return nil, false
	case err != nil:
		WriteError(w, http.StatusBadRequest, nil, message.Errorf(mcp.INVALID_REQUEST, "the body broke off"))
		return nil, false
	}
	return bytes.TrimSpace(body), true
}

// WriteAccepted responds 202 before the message is handled. An answer may end the call
// it belongs to, and a client may then cancel everything that belongs to the call,
// including the request that carried the answer. Go's net/http client, when a request
// is cancelled just as its response arrives, can fail other requests on the same
// connection.
func WriteAccepted(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusAccepted)
	_ = http.NewResponseController(w).Flush() // the client may be gone, but its message has arrived
}

// Accepts reports whether the request's Accept header includes a media type.
func Accepts(r *http.Request, kind string) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	family, _, _ := strings.Cut(kind, "/")
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		switch accepted, _, _ := mime.ParseMediaType(part); accepted {
		case kind, family + "/*", "*/*":
			return true
		}
	}
	return false
}

// WriteError writes an error response. M is the request that it belongs to, if there is
// one.
func WriteError(w http.ResponseWriter, status int, m *message.Incoming, e *message.Error) {
	var body []byte
	if m != nil {
		body = message.EncodeError(m.ID, e)
	} else {
		body = message.EncodeError(nil, e)
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
