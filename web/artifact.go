package web

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// handleArtifact serves an artifact's body as an image or a download. The headers keep
// a browser from treating it as a page of this site.
func (s *Server) handleArtifact(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return errPageNotFound
	}
	a, large, err := s.engine.OpenArtifact(r.Context(), caller, r.PathValue("id"), seq)
	if err != nil {
		return err
	}
	var body io.ReadSeeker = bytes.NewReader(a.Body)
	if large != nil {
		defer large.Close()
		body = large
	}
	serveArtifact(w, r, a, body)
	return nil
}

// handleEvidence serves the body of an artifact that a question shows or has shown.
func (s *Server) handleEvidence(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return errPageNotFound
	}
	q, err := s.engine.Question(r.Context(), caller, r.PathValue("id"))
	if err != nil {
		return err
	}
	if n < 0 || n >= len(q.Evidence) {
		return errPageNotFound
	}
	a := q.Evidence[n]
	serveArtifact(w, r, a, bytes.NewReader(a.Body))
	return nil
}

func serveArtifact(w http.ResponseWriter, r *http.Request, a *generators.Artifact, body io.ReadSeeker) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", responseMediaType(a.MediaType))
	h.Set("Cache-Control", "private, max-age=3600")
	h.Add("Vary", "Cookie, Authorization") // whoever signs in next in this browser must not get it from the cache
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": downloadName(a)}))
	// A client that reads nothing must not keep the connection open indefinitely.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(responseTimeout)) // not every writer supports it
	http.ServeContent(w, r, "", time.Time{}, body)
}

// responseMediaType returns the media type to serve an artifact with: its own for an
// image or a sound, else one that browsers don't render.
func responseMediaType(declared string) string {
	t, _, err := mime.ParseMediaType(declared)
	switch {
	case err != nil:
		return "application/octet-stream"
	case strings.HasPrefix(t, "image/"), strings.HasPrefix(t, "audio/"):
		return t
	case strings.HasPrefix(t, "text/"):
		return "text/plain; charset=utf-8"
	case strings.HasSuffix(t, "json"):
		return "application/json"
	}
	return "application/octet-stream"
}

// downloadName returns a file name for an artifact.
func downloadName(a *generators.Artifact) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, ask.CleanName(a.Title))
	if name = strings.Trim(name, ". -"); name == "" {
		name = "artifact"
	}
	if len(name) > 120 {
		name = strings.ToValidUTF8(name[:120], "")
	}
	if path.Ext(name) == "" {
		name += extensionFor(a.MediaType)
	}
	return name
}

func extensionFor(mediaType string) string {
	switch mediaType {
	case generators.MarkdownType:
		return ".md"
	case generators.TableType, generators.ChartType, generators.JSONType:
		return ".json"
	case "image/png":
		return ".png"
	case "image/svg+xml":
		return ".svg"
	case "image/jpeg":
		return ".jpg"
	case "text/csv":
		return ".csv"
	}
	if lang, ok := strings.CutPrefix(mediaType, "text/x-"); ok && lang != "plain" {
		return "." + lang
	}
	if strings.HasPrefix(mediaType, "text/") {
		return ".txt"
	}
	return ""
}
