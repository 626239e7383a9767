// Package artifacts renders what runs make: pictures, tables, charts, JSON and texts.
package artifacts

//go:generate go tool templ generate -path .

import (
	"bytes"
	"context"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/chart"
	"github.com/photon-beam/beam/web/internal/markup"
	"github.com/photon-beam/beam/web/internal/medium"
)

// An artifact is shown as one of these, a tableView, a [chart.Chart] or a templ.Component.
type (
	imageView       struct{ width, height int } // 0 if unknown
	audioView       struct{}
	videoView       struct{}
	placeholderView string // why the artifact is not shown
	// A largeView leads to the page that shows an artifact whose content is not at hand.
	largeView struct {
		reason  string
		view    templ.SafeURL
		isTable bool
	}
)

// chooseView returns the view of an artifact whose content is at an address. Id begins the
// ids of its elements; missing reports that the body isn't there, because it is large.
func chooseView(ctx context.Context, a *generators.Artifact, url templ.SafeURL, id string, missing bool) any {
	media := mediaTypeOf(a.MediaType)
	switch {
	case len(a.Body) == 0 && a.Size == 0 && a.Digest == "" && !missing:
		if imageTypes[media] {
			return imageView{}
		}
		return placeholderView("This file is empty.")
	case imageTypes[media]:
		return newImageView(a.Body)
	case audioTypes[media]:
		return audioView{}
	case videoTypes[media]:
		return videoView{}
	case !isShown(media):
		return placeholderView("This type of file can’t be shown here. Download it to open it with another program.")
	case len(a.Body) == 0 && medium.Of(ctx) == medium.Site && url != "":
		return largeView{"This file has " + humanize.Bytes(a.Size) + ".", viewURL(url), media == generators.TableType}
	case len(a.Body) == 0:
		return placeholderView("This file is too large to show here.")
	}
	return textView(ctx, a, media, url, id)
}

// isShown reports whether a page shows artifacts of a media type, other than as pictures,
// sounds and videos.
func isShown(media string) bool {
	return media == generators.TableType || media == generators.ChartType || isJSON(media) || strings.HasPrefix(media, "text/")
}

func isJSON(media string) bool {
	return media == generators.JSONType || strings.HasSuffix(media, "+json")
}

// textView returns the view of an artifact for which isShown is true.
func textView(ctx context.Context, a *generators.Artifact, media string, url templ.SafeURL, id string) any {
	switch {
	case media == generators.MarkdownType:
		return markup.Markdown(a.Body)
	case media == generators.TableType:
		if v, ok := parseTable(a.Title, a.Body); ok {
			return v.withBrowse(ctx, url, "")
		}
		return markup.Code("", a.Body)
	case media == generators.ChartType:
		if v, ok := chart.Parse(id, a.Body); ok {
			return v
		}
		return markup.Code("", a.Body)
	case isJSON(media):
		return JSON(a.Body, ViewURL(ctx, url))
	}
	language, _ := codeLanguage(media)
	return markup.Code(language, a.Body)
}

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
