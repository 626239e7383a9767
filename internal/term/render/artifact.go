// Package render lays out artifacts, tables and requests to models as text for a terminal.
package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// Renderer renders artifacts for a width.
type Renderer struct {
	Style Styles
	Width int
	// truncated is set once an artifact was not shown whole.
	Truncated bool
}

// Limits on what is shown of one artifact, and on what is highlighted, whose expressions
// can be slow.
const (
	maxArtifactLines = 200
	maxArtifactBytes = 256 << 10
	maxHighlight     = 64 << 10
)

// Render returns an artifact with its title, as lines.
func (r *Renderer) Render(a *generators.Artifact) string {
	title := cmp.Or(cleantext.Line(a.Title), cleantext.Line(a.MediaType))
	body, shown := r.body(a)
	if !shown {
		r.Truncated = true
		return r.Style.Paint(Bold, title) + r.Style.Paint(Faint, " ("+cleantext.Line(a.MediaType)+", "+humanize.Bytes(a.Size)+", not shown here)") + "\n"
	}
	body = strings.TrimRight(body, "\n")
	lines := strings.Split(body, "\n")
	if more := len(lines) - maxArtifactLines; more > 0 {
		r.Truncated = true
		body = strings.Join(lines[:maxArtifactLines], "\n") + "\n" + r.Style.Paint(Faint, "… "+humanize.Count(more, "more line"))
	}
	return r.Style.Paint(Bold, title) + "\n" + body + "\n"
}

// body returns an artifact's content. It reports false if a terminal can't show it.
func (r *Renderer) body(a *generators.Artifact) (text string, shown bool) {
	mediaType, _, _ := mime.ParseMediaType(a.MediaType)
	switch {
	case len(a.Body) == 0 && a.Size > 0:
		return "", false
	case mediaType == generators.TableType:
		var t generators.Table
		longer := func(row []any) bool { return len(row) > len(t.Columns) } // in logs of earlier versions
		if decodeNumbers(a.Body, &t) == nil && !slices.ContainsFunc(t.Rows, longer) {
			return r.table(t), true
		}
		return r.JSON(a.Body), true
	case mediaType == generators.ChartType:
		var c generators.Chart
		if json.Unmarshal(a.Body, &c) == nil && slices.Contains([]generators.ChartKind{generators.Bars, generators.Lines, generators.Areas, generators.Histogram}, c.Kind) {
			return r.chart(c), true
		}
		return r.JSON(a.Body), true
	case mediaType == generators.MarkdownType:
		return r.Markdown(r.Cut(a.Body)), true
	case mediaType == generators.JSONType || strings.HasSuffix(mediaType, "+json"):
		return r.JSON(a.Body), true
	case mediaType == "text/x-diff":
		return r.Diff(r.Cut(a.Body)), true
	}
	if !strings.HasPrefix(mediaType, "text/") || !utf8.Valid(a.Body) {
		return "", false
	}
	return r.code(strings.TrimPrefix(mediaType, "text/x-"), r.Cut(a.Body)), true
}

// Cut returns the beginning of a text, cleaned.
func (r *Renderer) Cut(body []byte) string {
	if len(body) > maxArtifactBytes {
		r.Truncated = true
		body = body[:maxArtifactBytes]
	}
	return cleantext.Text(string(body))
}

func decodeNumbers(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

func (r *Renderer) JSON(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return r.Cut(raw)
	}
	return r.code("json", r.Cut(b.Bytes()))
}

// Diff colors the lines of a unified diff.
func (r *Renderer) Diff(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "+"):
			lines[i] = r.Style.Paint(Green, line)
		case strings.HasPrefix(line, "-"):
			lines[i] = r.Style.Paint(Red, line)
		case strings.HasPrefix(line, "@@"):
			lines[i] = r.Style.Paint(Cyan, line)
		}
	}
	return strings.Join(lines, "\n")
}

// code highlights source code, if there are colors and the language is known.
func (r *Renderer) code(language, text string) string {
	if !r.Style || len(text) > maxHighlight || language == "plain" {
		return text
	}
	lexer := lexers.Get(language)
	if lexer == nil {
		return text
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, text)
	if err != nil {
		return text
	}
	var b strings.Builder
	for _, token := range tokens.Tokens() {
		for line := range strings.Lines(token.Value) { // a style doesn't span lines
			content := strings.TrimSuffix(line, "\n")
			b.WriteString(r.Style.Paint(tokenStyle(token.Type), content) + line[len(content):])
		}
	}
	return b.String()
}

// tokenStyle returns the style of a token of source code.
func tokenStyle(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return Faint
	case t == chroma.NameTag, t.InCategory(chroma.Keyword):
		return Magenta
	case t.InSubCategory(chroma.String):
		return Green
	case t.InSubCategory(chroma.Number):
		return Cyan
	case t == chroma.NameFunction, t == chroma.NameClass:
		return Blue
	}
	return ""
}
