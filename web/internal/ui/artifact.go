package ui

import (
	"bytes"
	"image"
	_ "image/gif" // formats whose size newImageView can read
	_ "image/jpeg"
	_ "image/png"
	"mime"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/chart"
	"github.com/photon-beam/beam/web/internal/markup"
)

// An artifact is shown as one of these, a tableView, a [chart.Chart] or a templ.Component.
type (
	imageView       struct{ width, height int } // 0 if unknown
	placeholderView string                      // why the artifact is not shown
)

// chooseView returns the view of an artifact. Id begins the ids of its elements; missing
// reports that the body isn't there, because it is large.
func chooseView(a *generators.Artifact, id string, missing bool) any {
	media, _, err := mime.ParseMediaType(a.MediaType)
	if err != nil {
		media = "application/octet-stream"
	}
	if imageTypes[media] {
		return newImageView(a.Body)
	}
	if len(a.Body) == 0 {
		if a.Size == 0 && a.Digest == "" && !missing {
			return placeholderView("This file is empty.")
		}
		return placeholderView("This file is too large to show here.")
	}
	switch {
	case audioTypes[media]:
		return audioView{}
	case media == generators.MarkdownType:
		return markup.Markdown(a.Body)
	case media == generators.TableType:
		if v, ok := parseTable(a.Title, a.Body); ok {
			return v
		}
		return markup.Code("", a.Body)
	case media == generators.ChartType:
		if v, ok := chart.Parse(id, a.Body); ok {
			return v
		}
		return markup.Code("", a.Body)
	case media == generators.JSONType || strings.HasSuffix(media, "+json"):
		return jsonTreeView(a.Body)
	}
	if language, ok := codeLanguage(media); ok {
		return markup.Code(language, a.Body)
	}
	return placeholderView("This type of file can’t be shown here.")
}

// imageTypes are the media types that browsers show as images. An SVG in an <img> runs
// no script.
var imageTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/svg+xml": true,
}

// audioTypes are the media types that browsers play.
var audioTypes = map[string]bool{
	"audio/wav": true, "audio/x-wav": true, "audio/wave": true, "audio/mpeg": true, "audio/ogg": true, "audio/webm": true, "audio/flac": true, "audio/aac": true, "audio/mp4": true,
}

// isInlineMedia reports whether a page has an image or a sound of a media type.
func isInlineMedia(declared string) bool {
	media, _, err := mime.ParseMediaType(declared)
	return err == nil && (imageTypes[media] || audioTypes[media])
}

// An audioView is an artifact that the page plays.
type audioView struct{}

// codeLanguage returns the language of a text media type: "go" for text/x-go.
func codeLanguage(media string) (string, bool) {
	sub, ok := strings.CutPrefix(media, "text/")
	if !ok {
		return "", false
	}
	return strings.TrimPrefix(sub, "x-"), true
}

// newImageView reads an image's size, so that the layout doesn't shift when it loads.
func newImageView(body []byte) imageView {
	c, _, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return imageView{}
	}
	return imageView{c.Width, c.Height}
}
