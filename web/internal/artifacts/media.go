package artifacts

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/chart"
	"github.com/photon-beam/beam/web/internal/markup"
	"github.com/photon-beam/beam/web/internal/medium"
)

// mediaTypeOf returns a media type without its parameters.
func mediaTypeOf(declared string) string {
	media, _, err := mime.ParseMediaType(declared)
	if err != nil {
		return "application/octet-stream"
	}
	return media
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

// videoTypes are the media types that browsers show as videos.
var videoTypes = map[string]bool{"video/mp4": true, "video/webm": true, "video/ogg": true}

// isInlineMedia reports whether a page has an image, a sound or a video of a media type.
func isInlineMedia(declared string) bool {
	media := mediaTypeOf(declared)
	return imageTypes[media] || audioTypes[media] || videoTypes[media]
}

// DataURL returns an artifact's content as a URL; empty if the page doesn't have it.
func DataURL(a *generators.Artifact) templ.SafeURL {
	if len(a.Body) == 0 {
		return ""
	}
	return templ.SafeURL("data:" + exportedMediaType(a.MediaType) + ";base64," + base64.StdEncoding.EncodeToString(a.Body))
}

// exportedMediaType returns a type that a browser shows as an image or a sound, or offers
// to save.
func exportedMediaType(declared string) string {
	if isInlineMedia(declared) {
		media, _, _ := mime.ParseMediaType(declared)
		return media
	}
	return "application/octet-stream"
}

// maxInlineMedia is the size of the largest picture that is part of a document, in bytes.
const maxInlineMedia = 256 << 10

// mediaURL returns the URL that a picture or a sound is loaded from; empty if the document
// can't load it.
func mediaURL(ctx context.Context, a *generators.Artifact, address templ.SafeURL) string {
	if medium.Of(ctx) != medium.Chat {
		return string(address)
	}
	return inlineURL(a)
}

// inlineURL returns a picture as a data URL; empty if it is too large, or not a picture.
func inlineURL(a *generators.Artifact) string {
	if len(a.Body) == 0 || len(a.Body) > maxInlineMedia || !imageTypes[a.MediaType] {
		return ""
	}
	return "data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.Body)
}

// IsImage reports whether browsers show a media type as an image.
func IsImage(media string) bool { return imageTypes[media] }

// IsWhole reports whether a figure on a page shows all of an artifact.
func IsWhole(a *generators.Artifact) bool {
	switch v := viewOf(a).(type) {
	case placeholderView, largeView:
		return false
	case tableView:
		return v.omittedNote() == ""
	case chart.Chart:
		return newChartTable("", v).omittedNote() == ""
	case imageView, audioView, videoView:
		return true
	}
	if isJSON(mediaTypeOf(a.MediaType)) {
		return fitsTree(a.Body)
	}
	return len(a.Body) <= markup.MaxText
}

// IsWholeInline is [IsWhole] for the view in a chat.
func IsWholeInline(a *generators.Artifact) bool {
	switch viewOf(a).(type) {
	case imageView, audioView, videoView:
		return inlineURL(a) != ""
	}
	return IsWhole(a)
}

func viewOf(a *generators.Artifact) any {
	return chooseView(context.Background(), a, "", "", len(a.Body) == 0 && a.Size > 0)
}

// fitsTree reports whether a JSON tree shows all of a value.
func fitsTree(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	for depth, nodes := 0, 0; ; nodes++ {
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		switch v := token.(type) {
		case json.Delim:
			if depth++; v == '}' || v == ']' {
				depth -= 2
			}
		case string:
			if len(v) > maxScalar {
				return false
			}
		}
		if depth >= maxDepth || nodes >= maxNodes {
			return false
		}
	}
}
