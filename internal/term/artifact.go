package term

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
	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// artifacts renders artifacts for a width.
type artifacts struct {
	style styles
	width int
	// truncated is set once an artifact was not shown whole.
	truncated bool
}

func (v *View) artifacts() *artifacts {
	return &artifacts{style: v.style, width: max(v.screen.width(), 10)}
}

// Limits on what is shown of one artifact, and on what is highlighted, whose expressions
// can be slow.
const (
	maxArtifactLines = 200
	maxArtifactBytes = 256 << 10
	maxHighlight     = 64 << 10
)

// render returns an artifact with its title, as lines.
func (r *artifacts) render(a *generators.Artifact) string {
	title := cmp.Or(cleantext.Line(a.Title), cleantext.Line(a.MediaType))
	body, shown := r.body(a)
	if !shown {
		r.truncated = true
		return r.style.paint(bold, title) + r.style.paint(faint, " ("+cleantext.Line(a.MediaType)+", "+humanize.Bytes(a.Size)+", not shown here)") + "\n"
	}
	body = strings.TrimRight(body, "\n")
	lines := strings.Split(body, "\n")
	if more := len(lines) - maxArtifactLines; more > 0 {
		r.truncated = true
		body = strings.Join(lines[:maxArtifactLines], "\n") + "\n" + r.style.paint(faint, "… "+humanize.Count(more, "more line"))
	}
	return r.style.paint(bold, title) + "\n" + body + "\n"
}

// body returns an artifact's content. It reports false if a terminal can't show it.
func (r *artifacts) body(a *generators.Artifact) (text string, shown bool) {
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
		return r.json(a.Body), true
	case mediaType == generators.ChartType:
		var c generators.Chart
		if json.Unmarshal(a.Body, &c) == nil && slices.Contains([]generators.ChartKind{generators.Bars, generators.Lines, generators.Areas, generators.Histogram}, c.Kind) {
			return r.chart(c), true
		}
		return r.json(a.Body), true
	case mediaType == generators.MarkdownType:
		return r.markdown(r.cut(a.Body)), true
	case mediaType == generators.JSONType || strings.HasSuffix(mediaType, "+json"):
		return r.json(a.Body), true
	case mediaType == "text/x-diff":
		return r.diff(r.cut(a.Body)), true
	}
	if !strings.HasPrefix(mediaType, "text/") || !utf8.Valid(a.Body) {
		return "", false
	}
	return r.code(strings.TrimPrefix(mediaType, "text/x-"), r.cut(a.Body)), true
}

// cut returns the beginning of a text, cleaned.
func (r *artifacts) cut(body []byte) string {
	if len(body) > maxArtifactBytes {
		r.truncated = true
		body = body[:maxArtifactBytes]
	}
	return cleantext.Text(string(body))
}

func decodeNumbers(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

func (r *artifacts) json(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return r.cut(raw)
	}
	return r.code("json", r.cut(b.Bytes()))
}

// diff colors the lines of a unified diff.
func (r *artifacts) diff(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "+"):
			lines[i] = r.style.paint(green, line)
		case strings.HasPrefix(line, "-"):
			lines[i] = r.style.paint(red, line)
		case strings.HasPrefix(line, "@@"):
			lines[i] = r.style.paint(cyan, line)
		}
	}
	return strings.Join(lines, "\n")
}

// code highlights source code, if there are colors and the language is known.
func (r *artifacts) code(language, text string) string {
	if !r.style || len(text) > maxHighlight || language == "plain" {
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
			b.WriteString(r.style.paint(tokenStyle(token.Type), content) + line[len(content):])
		}
	}
	return b.String()
}

// tokenStyle returns the style of a token of source code.
func tokenStyle(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return faint
	case t == chroma.NameTag, t.InCategory(chroma.Keyword):
		return magenta
	case t.InSubCategory(chroma.String):
		return green
	case t.InSubCategory(chroma.Number):
		return cyan
	case t == chroma.NameFunction, t == chroma.NameClass:
		return blue
	}
	return ""
}

// indent puts a prefix before each line.
func indent(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}

// wrap breaks lines at words.
func wrap(text string, width int) string { return ansi.Wrap(text, max(width, 1), "") }
