package markup

import (
	"bytes"
	"regexp"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Document renders a document of Beam's own as HTML, whose headings have ids and start at
// level 2. Link returns the address of what the document links to. Unlike [Markdown], it
// isn't for text of others.
func Document(source []byte, link func(destination string) string) (string, error) {
	tree := documentConverter().Parser().Parse(gmtext.NewReader(source))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			l.Destination = []byte(link(string(l.Destination)))
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	err := documentConverter().Renderer().Render(&b, source, tree)
	return emptyHeader.ReplaceAllString(b.String(), "<td></td>"), err
}

// HeadingIDs returns a function that returns the id which [Document] gives to the next heading of
// a document.
func HeadingIDs() func(heading string) string {
	ids := parser.NewContext().IDs()
	return func(heading string) string { return string(ids.Generate([]byte(heading), ast.KindHeading)) }
}

// emptyHeader is a cell above a column without a name, which heads nothing.
var emptyHeader = regexp.MustCompile(`<th(?: align="[a-z]*")?></th>`)

var documentConverter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Strikethrough, extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(headingLevels{}, 500))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blockRenderer{}, 100))),
	)
})
