// Package markup renders Markdown and source code as HTML that is safe in a page of Beam.
package markup

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/photon-beam/beam/internal/cleantext"
)

// maxMarkdown is the longest document that is rendered, in bytes. Longer ones are shown
// as source.
const maxMarkdown = 256 << 10

// Markdown renders CommonMark with GitHub's extensions. It drops raw HTML, loads no
// external content, and makes Datastar ignore the result. Its headings start at level 2.
func Markdown(source []byte) templ.Component {
	if len(source) > maxMarkdown {
		return Code("markdown", source)
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		html, err := markdownHTML(source)
		if err != nil {
			return Code("markdown", source).Render(context.Background(), w)
		}
		if _, err := io.WriteString(w, `<div class="prose" data-ignore>`); err != nil {
			return err
		}
		if _, err := io.WriteString(w, cleantext.Text(string(html))); err != nil {
			return err
		}
		_, err = io.WriteString(w, `</div>`)
		return err
	})
}

func markdownHTML(source []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := converter().Convert(source, &b); err != nil {
		return nil, err
	}
	return sanitizer().SanitizeBytes(b.Bytes()), nil
}

var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(headingLevels{}, 500))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blockRenderer{}, 100))),
	)
})

// sanitizer allows what goldmark and the code highlighter write, and no images, styles,
// ids or scripts.
var sanitizer = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "span",
		"em", "strong", "del", "ul", "li", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowElements("ol")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[a-z][a-z0-9]{0,2}$`)).OnElements("span")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^code$`)).OnElements("pre")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(false)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true) // also adds noopener
	return p
})

// headingLevels renumbers headings without gaps, starting at level 2.
type headingLevels struct{}

func (headingLevels) Transform(doc *ast.Document, _ gmtext.Reader, _ parser.Context) {
	var open []int // the levels of the enclosing headings
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		for len(open) > 0 && open[len(open)-1] >= h.Level {
			open = open[:len(open)-1]
		}
		open = append(open, h.Level)
		h.Level = min(len(open)+1, 6)
		return ast.WalkSkipChildren, nil
	})
}

// blockRenderer highlights code, and renders images as links and task boxes as text.
type blockRenderer struct{}

func (b blockRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, b.renderCode)
	reg.Register(ast.KindCodeBlock, b.renderCode)
	reg.Register(ast.KindImage, b.renderImage)
	reg.Register(east.KindTaskCheckBox, b.renderTask)
}

func (blockRenderer) renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var language string
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	var code bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		code.Write(line.Value(source))
	}
	return ast.WalkSkipChildren, highlight(w, language, code.String())
}

// renderTask renders the box of a task as a character, since a control would not work.
func (blockRenderer) renderTask(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		box := "☐ "
		if n.(*east.TaskCheckBox).IsChecked {
			box = "☑ "
		}
		_, _ = w.WriteString(box)
	}
	return ast.WalkContinue, nil
}

func (blockRenderer) renderImage(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	img := n.(*ast.Image)
	if !entering {
		return ast.WalkContinue, nil
	}
	alt := strings.TrimSpace(plainText(n, source))
	if alt == "" {
		alt = "image"
	}
	if bytes.HasPrefix(img.Destination, []byte("http")) {
		_, _ = w.WriteString(`<a href="`)
		_, _ = w.Write(util.EscapeHTML(util.URLEscape(img.Destination, true)))
		_, _ = w.WriteString(`">`)
		_, _ = w.Write(util.EscapeHTML([]byte(alt)))
		_, _ = w.WriteString(`</a>`)
	} else {
		_, _ = w.Write(util.EscapeHTML([]byte(alt)))
	}
	return ast.WalkSkipChildren, nil
}

// plainText returns the text below a node.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
