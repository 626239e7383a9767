package markup

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/photon-beam/beam/internal/cleantext"
)

// MaxText is how much of a code or a document is rendered, in bytes.
const MaxText = 512 << 10

// Longer code, or code with longer lines, is not highlighted: the highlighter's regular
// expressions can be slow.
const (
	maxHighlight = 64 << 10 // bytes
	maxCodeLine  = 2000     // bytes
)

// Code renders source code, highlighted if the highlighter knows the language.
func Code(language string, source []byte) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		truncated := len(source) > MaxText
		if err := highlight(w, language, string(source[:min(len(source), MaxText)])); err != nil || !truncated {
			return err
		}
		_, err := io.WriteString(w, `<p class="faint">The rest is not shown. Download the file to see all of it.</p>`)
		return err
	})
}

// highlight writes code with a class for each kind of token.
func highlight(w io.Writer, language, code string) error {
	code = cleantext.Text(strings.TrimSuffix(strings.ReplaceAll(code, "\r", ""), "\n"))
	if _, err := io.WriteString(w, `<pre class="code" tabindex="0"><code>`); err != nil {
		return err
	}
	if err := writeTokens(w, language, code); err != nil {
		return err
	}
	_, err := io.WriteString(w, `</code></pre>`)
	return err
}

func writeTokens(w io.Writer, language, code string) error {
	lexer := lexerFor(language, code)
	if lexer == nil {
		_, err := io.WriteString(w, templ.EscapeString(code))
		return err
	}
	it, err := lexer.Tokenise(nil, code)
	if err != nil {
		_, err := io.WriteString(w, templ.EscapeString(code))
		return err
	}
	tokens := it.Tokens()
	if n := len(tokens); n > 0 {
		tokens[n-1].Value = strings.TrimSuffix(tokens[n-1].Value, "\n")
	}
	for _, t := range tokens {
		if _, err := io.WriteString(w, tokenHTML(t)); err != nil {
			return err
		}
	}
	return nil
}

func lexerFor(language, code string) chroma.Lexer {
	if language == "" || language == "plain" || len(code) > maxHighlight || longestLine(code) > maxCodeLine {
		return nil
	}
	l := lexers.Get(language)
	if l == nil {
		return nil
	}
	return chroma.Coalesce(l)
}

func longestLine(s string) int {
	longest := 0
	for line := range strings.Lines(s) {
		longest = max(longest, len(line))
	}
	return longest
}

// tokenHTML returns a token in a span with its class, or as text if the stylesheet has
// no class for it.
func tokenHTML(t chroma.Token) string {
	text := templ.EscapeString(t.Value)
	class := tokenClass(t.Type)
	if class == "" || strings.TrimSpace(t.Value) == "" {
		return text
	}
	return `<span class="` + class + `">` + text + `</span>`
}

func tokenClass(t chroma.TokenType) string {
	switch t {
	case chroma.KeywordType, chroma.NameBuiltin, chroma.NameBuiltinPseudo:
		return "kt"
	case chroma.KeywordConstant:
		return "m"
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator:
		return "nf"
	case chroma.NameTag:
		return "k"
	case chroma.NameAttribute, chroma.NameProperty:
		return "na"
	case chroma.GenericDeleted:
		return "gd"
	case chroma.GenericInserted:
		return "gi"
	case chroma.GenericHeading, chroma.GenericSubheading:
		return "gh"
	}
	switch {
	case t.InCategory(chroma.Comment):
		return "c"
	case t.InCategory(chroma.Keyword):
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "m"
	case t.InCategory(chroma.Operator):
		return "o"
	}
	return ""
}
