package generators

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/internal/call"
	"github.com/photon-beam/beam/internal/unifieddiff"
)

// The media types of artifacts that surfaces render specially.
const (
	MarkdownType = "text/markdown"
	JSONType     = "application/json"
	TableType    = "application/vnd.beam.table+json"
	ChartType    = "application/vnd.beam.chart+json"
)

// An Artifact is something that a run produced: a document, a table, a picture or
// another file. A surface renders the media types (RFC 6838) that it knows and offers
// others for download. One that doesn't have the form of its media type, of which a
// surface could show only a part, ends the run with an error when it is yielded, and is
// refused by package ask as something to show with a question.
type Artifact struct {
	Title     string `json:"title"`
	MediaType string `json:"mediaType"`
	// URI identifies the resource of which the body is a copy; empty if there is none.
	URI string `json:"uri,omitempty"`
	// Body is the content, of any size. A log stores a large body apart from the
	// entry; then Digest identifies it and Body is empty.
	Body   []byte `json:"body,omitempty"`
	Digest string `json:"digest,omitempty"`
	Size   int64  `json:"size"` // of the body, in bytes

	malformed error // why there is no such artifact; nil if nothing is known against it
}

// A Table is the body of an artifact of [TableType].
type Table struct {
	Columns []string `json:"columns"`
	// Rows hold exactly one value per column: a string, number, bool or nil.
	Rows [][]any `json:"rows"`
}

// A Chart is the body of an artifact of [ChartType]. Every series has exactly one value
// per label, except in a [Histogram]. No value is infinite or NaN.
type Chart struct {
	Kind   ChartKind `json:"kind"`
	XTitle string    `json:"xTitle,omitempty"`
	YTitle string    `json:"yTitle,omitempty"`
	Labels []string  `json:"labels"`
	Series []Series  `json:"series"`
}

// A Series is one set of values of a [Chart].
type Series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// ChartKind is the form of a [Chart].
type ChartKind string

// The forms of a chart.
const (
	Bars  ChartKind = "bars"
	Lines ChartKind = "lines"
	Areas ChartKind = "areas" // lines, with what is below them filled
	// Histogram is a chart of how often values occur. The values of a series are the
	// observations, in any order; surfaces count them in intervals. It has no labels.
	Histogram ChartKind = "histogram"
)

func newArtifact(title, mediaType string, body []byte) *Artifact {
	return &Artifact{Title: title, MediaType: mediaType, Body: body, Size: int64(len(body))}
}

// MarkdownText is a result in CommonMark with GitHub's tables, for a generator that
// returns a document and nothing else. Surfaces render it, without its raw HTML. To
// programs, it is a string.
type MarkdownText string

// Markdown returns a document in CommonMark with GitHub's tables. Surfaces drop raw
// HTML. If the document is the run's result, return it as [MarkdownText] instead.
func Markdown(title, text string) Event { return newArtifact(title, MarkdownType, []byte(text)) }

// Code returns source code in a language such as "go" or "python".
func Code(title, language, text string) Event {
	if strings.ContainsFunc(language, isNotTokenRune) || language == "" {
		language = "plain"
	}
	return newArtifact(title, "text/x-"+strings.ToLower(language), []byte(text))
}

// Diff returns the lines that differ between two texts, in the unified format with
// three lines of context. If no line differs, the artifact says so.
func Diff(title, before, after string) Event {
	return newArtifact(title, "text/x-diff", []byte(unifieddiff.Of(before, after)))
}

// JSON returns any value that encoding/json can encode. Surfaces show it as a tree.
func JSON(title string, value any) Event { return newJSONArtifact(title, JSONType, value) }

// TableOf returns a table.
func TableOf(title string, t Table) Event { return newJSONArtifact(title, TableType, t) }

// ChartOf returns a chart. Surfaces draw it.
func ChartOf(title string, c Chart) Event { return newJSONArtifact(title, ChartType, c) }

// Image returns a picture of an image/* media type.
func Image(title, mediaType string, body []byte) Event {
	a := newArtifact(title, mediaType, body)
	if !strings.HasPrefix(strings.ToLower(mediaType), "image/") {
		a.malformed = fmt.Errorf("a picture has a media type such as image/png, not %q", call.TruncateText(mediaType))
	}
	return a
}

// File returns a file of any media type. Its title is its name.
func File(name, mediaType string, body []byte) Event { return newArtifact(name, mediaType, body) }

// Resource returns a copy of the resource at uri, of any media type (MCP:
// EmbeddedResource).
func Resource(uri, mediaType string, body []byte) Event {
	return &Artifact{Title: uri, MediaType: mediaType, URI: uri, Body: body, Size: int64(len(body))}
}

func newJSONArtifact(title, mediaType string, v any) Event {
	raw, err := json.Marshal(v)
	a := newArtifact(title, mediaType, raw)
	a.malformed = err
	return a
}

// isNotTokenRune reports whether r is not allowed in a media type.
func isNotTokenRune(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+-.", r))
}
