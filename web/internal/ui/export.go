package ui

import (
	"context"
	"encoding/base64"
	"mime"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
)

type exportKey struct{}

// ForExport returns a context in which pages link to nothing of the site: what they would
// link to is in them.
func ForExport(ctx context.Context) context.Context {
	return context.WithValue(ctx, exportKey{}, true)
}

func isExport(ctx context.Context) bool { return ctx.Value(exportKey{}) != nil }

// dataURL returns an artifact's content as a URL; empty if the page doesn't have it.
func dataURL(a *generators.Artifact) templ.SafeURL {
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
