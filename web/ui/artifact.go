package ui

import (
	"bytes"
	"image"
	_ "image/gif" // formats whose sizes are known
	_ "image/jpeg"
	_ "image/png"
	"mime"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/timeline"
)

// downloadURL is where an artifact's content is.
func downloadURL(r *timeline.Run, i *timeline.Item) templ.SafeURL {
	return templ.SafeURL("/runs/" + url.PathEscape(r.ID) + "/artifacts/" + strconv.FormatUint(i.Seq, 10))
}

// What an artifact can be shown as, besides a tableView, a chartView and a
// templ.Component.
type (
	imageView       struct{ width, height int } // 0 if nobody knows
	placeholderView string                      // why it is not shown
)

// chooseView decides how an artifact is shown.
func chooseView(i *timeline.Item) any {
	a := i.Artifact
	media, _, err := mime.ParseMediaType(a.MediaType)
	if err != nil {
		media = "application/octet-stream"
	}
	if imageTypes[media] {
		return newImageView(a.Body)
	}
	if len(a.Body) == 0 {
		if a.Size == 0 && a.Digest == "" && !i.Large {
			return placeholderView("It is empty.")
		}
		return placeholderView("It is too large to be shown here.")
	}
	switch {
	case media == generators.MarkdownType:
		return markdown(a.Body)
	case media == generators.TableType:
		if v, ok := parseTable(a.Title, a.Body); ok {
			return v
		}
		return codeBlock("", a.Body)
	case media == generators.ChartType:
		if v, ok := parseChart(i.ID(), a.Title, a.Body); ok {
			return v
		}
		return codeBlock("", a.Body)
	case media == generators.JSONType || strings.HasSuffix(media, "+json"):
		return jsonTreeView(a.Body)
	}
	if language, ok := codeLanguage(media); ok {
		return codeBlock(language, a.Body)
	}
	return placeholderView("This kind of file can’t be shown here.")
}

// imageTypes are what browsers draw. An SVG in an <img> runs no script.
var imageTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/svg+xml": true,
}

// codeLanguage is the language of a text's media type: text/x-go is "go".
func codeLanguage(media string) (string, bool) {
	sub, ok := strings.CutPrefix(media, "text/")
	if !ok {
		return "", false
	}
	return strings.TrimPrefix(sub, "x-"), true
}

// newImageView finds a picture's size, so that the page doesn't jump when it comes.
func newImageView(body []byte) imageView {
	c, _, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return imageView{}
	}
	return imageView{c.Width, c.Height}
}
