package content

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/web/internal/response"
)

// serveContent serves content as a download, or for a page that has it as a picture or the
// like. The headers keep a browser from treating it as a page of this site.
func serveContent(w http.ResponseWriter, r *http.Request, mediaType, name string, modified time.Time, body io.ReadSeeker) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "private, max-age=3600")
	h.Add("Vary", "Cookie, Authorization") // whoever signs in next in this browser must not get it from the cache
	response.Attachment(w, name)
	response.SetDeadline(w)
	if _, verified := body.(*os.File); verified { // which can be sent without copying it
		http.ServeContent(w, r, "", modified, body)
		return
	}
	b := &failingBody{ReadSeeker: body}
	http.ServeContent(w, r, "", modified, b)
	if b.err != nil {
		panic(http.ErrAbortHandler) // the client must not take what it has for the whole
	}
}

// A failingBody keeps the error of reading a body.
type failingBody struct {
	io.ReadSeeker
	err error
}

func (b *failingBody) Read(p []byte) (int, error) {
	n, err := b.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// responseMediaType returns the media type to serve an artifact with: its own for an
// image, a sound or a video, else one that browsers don't render.
func responseMediaType(declared string) string {
	t, _, err := mime.ParseMediaType(declared)
	switch {
	case err != nil:
		return "application/octet-stream"
	case strings.HasPrefix(t, "image/"), strings.HasPrefix(t, "audio/"), strings.HasPrefix(t, "video/"):
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
	}, askdata.CleanName(a.Title))
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
