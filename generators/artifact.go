package generators

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Media types of the artifacts that have a shape of their own.
const (
	MarkdownType = "text/markdown"
	JSONType     = "application/json"
	TableType    = "application/vnd.beam.table+json"
	ChartType    = "application/vnd.beam.chart+json"
)

// An Artifact is something that a run made: a document, a table, a picture, a
// file. MediaType says which (RFC 6838); a surface shows what it knows and
// offers the rest as a download.
type Artifact struct {
	Title     string `json:"title"`
	MediaType string `json:"mediaType"`
	// URI names the resource that the body is a copy of, if there is one.
	URI string `json:"uri,omitempty"`
	// Body is the content, of any size. In a log it stands beside the entry
	// when it is large; then Digest names it and Body is empty.
	Body   []byte `json:"body,omitempty"`
	Digest string `json:"digest,omitempty"`
	Size   int64  `json:"size"` // of the body, in bytes
}

// A Table is the body of an artifact of [TableType].
type Table struct {
	Columns []string `json:"columns"`
	// Rows hold a value a column: string, number, bool or nil.
	Rows [][]any `json:"rows"`
}

// A Chart is the body of an artifact of [ChartType]. Every series has a value
// for each label.
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
)

// normalized returns the artifact as it is recorded: its texts of a sane length, its
// size as it is.
func (a *Artifact) normalized() *Artifact {
	fit := *a
	fit.Title, fit.MediaType, fit.URI = truncateText(a.Title), truncateText(a.MediaType), truncateText(a.URI)
	if len(a.Body) > 0 {
		fit.Size = int64(len(a.Body))
	}
	return &fit
}

func newArtifact(title, mediaType string, body []byte) Event {
	return &Artifact{Title: title, MediaType: mediaType, Body: body, Size: int64(len(body))}
}

// Markdown is a document in CommonMark with GitHub's tables. Raw HTML in it is
// dropped where it is shown.
func Markdown(title, text string) Event { return newArtifact(title, MarkdownType, []byte(text)) }

// Code is a text in a programming language, named as in "go" or "python".
func Code(title, language, text string) Event {
	if strings.ContainsFunc(language, isNotTokenRune) || language == "" {
		language = "plain"
	}
	return newArtifact(title, "text/x-"+strings.ToLower(language), []byte(text))
}

// JSON is any value, shown as a tree. A value that encoding/json refuses
// becomes a plain text that says why.
func JSON(title string, value any) Event { return newJSONArtifact(title, JSONType, value) }

// TableOf is a table.
func TableOf(title string, t Table) Event { return newJSONArtifact(title, TableType, t) }

// ChartOf is a chart; it is drawn where it is shown.
func ChartOf(title string, c Chart) Event { return newJSONArtifact(title, ChartType, c) }

// Image is a picture of an image/* media type.
func Image(title, mediaType string, body []byte) Event { return newArtifact(title, mediaType, body) }

// File is a file of any media type, titled by its name.
func File(name, mediaType string, body []byte) Event { return newArtifact(name, mediaType, body) }

// Resource is a copy of the resource that the URI names, of any media type
// (MCP: EmbeddedResource).
func Resource(uri, mediaType string, body []byte) Event {
	return &Artifact{Title: uri, MediaType: mediaType, URI: uri, Body: body, Size: int64(len(body))}
}

func newJSONArtifact(title, mediaType string, v any) Event {
	raw, err := json.Marshal(v)
	if err != nil {
		return newArtifact(title, "text/plain", fmt.Appendf(nil, "this value has no JSON form: %v", err))
	}
	return newArtifact(title, mediaType, raw)
}

// isNotTokenRune tells the characters that may not stand in a media type.
func isNotTokenRune(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+-.", r))
}
