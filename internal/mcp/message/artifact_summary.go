package message

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/rawjson"
)

// An artifactSummary is what structured content has of an artifact, for clients that give
// a model nothing but that.
type artifactSummary struct {
	Title     string `json:"title"`
	MediaType string `json:"mediaType"`
	// Text is the beginning of the artifact as compact text, if it is text.
	Text string `json:"text,omitempty"`
	// OmittedLines is how many lines Text lacks.
	OmittedLines int    `json:"omittedLines,omitempty"`
	URI          string `json:"uri"`
}

// maxSummaries is how much of a run's artifacts structured content has, in bytes of text
// and in all; and maxSummarized, how many of them.
const (
	maxSummaries  = 4 << 10
	maxSummarized = 100
)

// A summarizer summarizes the artifacts of a result.
type summarizer struct {
	list []artifactSummary
	used int
}

// add adds an artifact, whose body may be missing.
func (s *summarizer) add(a *generators.Artifact, uri string) {
	if len(s.list) == maxSummarized {
		return
	}
	summary := artifactSummary{Title: a.Title, MediaType: a.MediaType, URI: uri}
	if text, ok := artifactText(a); ok && len(a.Body) > 0 {
		summary.Text, summary.OmittedLines = cutLines(strings.TrimRight(cleantext.Text(text), "\n"), maxSummaries-s.used)
		s.used += len(summary.Text)
	}
	s.list = append(s.list, summary)
}

// summariesMember is the member of structured content that has the summaries.
const summariesMember = "artifacts"

// addTo returns structured content with the summaries, if its schema, which OutputSchema
// returns, leaves room for them.
func (s *summarizer) addTo(content json.RawMessage, p *generators.Photon, c *Client) json.RawMessage {
	if len(s.list) == 0 || rawjson.TypeName(content) != rawjson.ObjectType || rawjson.Member(content, summariesMember) != nil {
		return content
	}
	if structuredShapeOf(p, c) == shapeUnwrapped && !isExtensible(p.Output()) {
		return content
	}
	raw, err := json.Marshal(s.list)
	if err != nil {
		return content
	}
	content = bytes.TrimRight(content, " \t\r\n")
	out := slices.Clone(content[:len(content)-1])
	if len(bytes.TrimSpace(out)) > 1 {
		out = append(out, ',')
	}
	out = append(rawjson.AppendText(out, summariesMember), ':')
	return append(append(out, raw...), '}')
}

// isExtensible reports whether an object of a schema may have the summaries as one more
// member, once additionalProperties is removed from the schema.
func isExtensible(s *generators.Schema) bool {
	d := s.Document()
	if d.Type != "object" || d.Properties[summariesMember] != nil || d.Ref != "" || d.DynamicRef != "" || d.AllOf != nil || d.AnyOf != nil || d.OneOf != nil || d.Not != nil || d.If != nil ||
		d.PatternProperties != nil || d.PropertyNames != nil || d.MaxProperties != nil || d.UnevaluatedProperties != nil || d.DependentSchemas != nil || d.Enum != nil || d.Const != nil {
		return false
	}
	raw, err := s.MarshalJSON()
	closed := rawjson.Member(raw, "additionalProperties")
	return err == nil && (closed == nil || string(closed) == "false")
}
