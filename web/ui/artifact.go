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
	picture   struct{ width, height int } // 0 if nobody knows
	elsewhere string                      // why it is not shown
)

// viewOf decides how an artifact is shown.
func viewOf(i *timeline.Item) any {
	a := i.Artifact
	media, _, err := mime.ParseMediaType(a.MediaType)
	if err != nil {
		media = "application/octet-stream"
	}
	if pictureTypes[media] {
		return pictureOf(a.Body)
	}
	if len(a.Body) == 0 {
		if a.Size == 0 && a.Digest == "" && !i.Large {
			return elsewhere("It is empty.")
		}
		return elsewhere("It is too large to be shown here.")
	}
	switch {
	case media == generators.MarkdownType:
		return markdown(a.Body)
	case media == generators.TableType:
		if v, ok := readTable(a.Title, a.Body); ok {
			return v
		}
		return codeBlock("", a.Body)
	case media == generators.ChartType:
		if v, ok := readChart(i.ID(), a.Title, a.Body); ok {
			return v
		}
		return codeBlock("", a.Body)
	case media == generators.JSONType || strings.HasSuffix(media, "+json"):
		return jsonTree(a.Body)
	}
	if language, ok := languageOf(media); ok {
		return codeBlock(language, a.Body)
	}
	return elsewhere("This kind of file can’t be shown here.")
}

// pictureTypes are what browsers draw. An SVG in an <img> runs no script.
var pictureTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/svg+xml": true,
}

// languageOf is the language of a text's media type: text/x-go is "go".
func languageOf(media string) (string, bool) {
	sub, ok := strings.CutPrefix(media, "text/")
	if !ok {
		return "", false
	}
	return strings.TrimPrefix(sub, "x-"), true
}

// pictureOf finds a picture's size, so that the page doesn't jump when it comes.
func pictureOf(body []byte) picture {
	c, _, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return picture{}
	}
	return picture{c.Width, c.Height}
}
