package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/chart"
	"github.com/photon-beam/beam/web/internal/markup"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// shownEvidence returns the artifacts that a question shows.
func shownEvidence(o engine.OpenAsk) []*generators.Artifact {
	if o.Question == nil {
		return nil
	}
	return o.Question.Evidence
}

// RenderingOf says how much of what a question shows its form has.
func RenderingOf(o engine.OpenAsk) runlog.Rendering {
	for n, a := range shownEvidence(o) {
		if !isWhole(a, chooseView(context.Background(), a, "", evidenceID(o, n), len(a.Body) == 0 && a.Size > 0)) {
			return runlog.RenderedTruncated
		}
	}
	return runlog.RenderedFull
}

// isWhole reports whether an artifact's view, from chooseView, shows all of it.
func isWhole(a *generators.Artifact, view any) bool {
	switch v := view.(type) {
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

// The inbox has what a question shows if that is brief, and links to it otherwise.
const (
	maxBriefArtifacts = 12
	maxBriefBytes     = 16 << 10
)

// HasBriefEvidence reports whether the inbox has what a question shows, and not just its
// titles.
func HasBriefEvidence(o engine.OpenAsk) bool {
	evidence := shownEvidence(o)
	var size int64
	for _, a := range evidence {
		size += a.Size
	}
	return len(evidence) <= maxBriefArtifacts && size <= maxBriefBytes
}

// maxListedTitles is how many titles of artifacts a list of questions has for each.
const maxListedTitles = 3

// listTitles names the artifacts that a question shows.
func listTitles(evidence []*generators.Artifact) string {
	titles := make([]string, len(evidence))
	for i, a := range evidence {
		titles[i] = humanize.Truncate(titleOrName(a.Title, "an untitled artifact"), 60)
	}
	return humanize.List(titles, maxListedTitles)
}

// renderedNote says what of it the surface that answered did not render.
func renderedNote(a *timeline.Ask) string {
	switch a.Rendered {
	case runlog.RenderedTruncated:
		return ", not all of it to who answered"
	case runlog.RenderedNothing:
		return ", but not to who answered"
	}
	return ""
}
