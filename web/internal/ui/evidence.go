package ui

import (
	"cmp"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/artifacts"
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
	return renderingOf(o, artifacts.IsWhole)
}

func renderingOf(o engine.OpenAsk, isWhole func(*generators.Artifact) bool) runlog.Rendering {
	if slices.ContainsFunc(shownEvidence(o), func(a *generators.Artifact) bool { return !isWhole(a) }) {
		return runlog.RenderedTruncated
	}
	return runlog.RenderedFull
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
		titles[i] = humanize.Truncate(cmp.Or(a.Title, "an untitled artifact"), 60)
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
