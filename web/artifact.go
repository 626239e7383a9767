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
	"github.com/photon-beam/beam/internal/engine"
)

// handleArtifact serves an artifact's body: pictures to be shown, everything as a
// download. What a tool made is never a page of ours.
func (s *Server) handleArtifact(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return errPageNotFound
	}
	a, large, err := s.engine.OpenArtifact(r.Context(), who, r.PathValue("id"), seq)
	if err != nil {
		return err
	}
	var body io.ReadSeeker = bytes.NewReader(a.Body)
	if large != nil {
		defer large.Close()
		body = large
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", responseMediaType(a.MediaType))
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": downloadName(a)}))
	// Whoever takes nothing of it must not keep it open for ever.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(responseTimeout)) // not every writer has one
	http.ServeContent(w, r, "", time.Time{}, body)
	return nil
}

// responseMediaType is the media type that an artifact is served with: its own if it
// is a picture, else one that no browser shows.
func responseMediaType(declared string) string {
	t, _, err := mime.ParseMediaType(declared)
	switch {
	case err != nil:
		return "application/octet-stream"
	case strings.HasPrefix(t, "image/"):
		return t
	case strings.HasPrefix(t, "text/"):
		return "text/plain; charset=utf-8"
	case strings.HasSuffix(t, "json"):
		return "application/json"
	}
	return "application/octet-stream"
}

// downloadName makes a title a name to save under.
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
