package web

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/photon-beam/beam/generators"
)

// handleResult serves the result of a run that has ended with one, as JSON.
func (s *Server) handleResult(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	end, at, err := s.engine.Result(r.Context(), caller, id)
	if err != nil {
		return err
	}
	var body io.ReadSeeker = bytes.NewReader(end.Result)
	switch {
	case end.ResultBlob != "":
		f, err := s.engine.OpenResult(caller, id, end)
		if err != nil {
			return err
		}
		defer f.Close()
		body = f
	case end.Result == nil:
		return errNoResult
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "private, max-age=3600")
	h.Add("Vary", "Cookie, Authorization")
	h.Set("Content-Disposition", `attachment; filename="result.json"`)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(responseTimeout)) // not every writer supports it
	http.ServeContent(w, r, "", at, body)
	return nil
}

// errNoResult is the error for a run without a result.
var errNoResult = statusErrorf(http.StatusNotFound, "The run has no result.")
