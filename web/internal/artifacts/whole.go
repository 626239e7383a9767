package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/chart"
	"github.com/photon-beam/beam/web/internal/markup"
)

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
