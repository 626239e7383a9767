package render

import (
	"fmt"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/photon-beam/beam/internal/cleantext"
)

var markdownParser = sync.OnceValue(func() goldmark.Markdown { return goldmark.New(goldmark.WithExtensions(extension.GFM)) })

// Markdown renders CommonMark with GitHub's extensions. It drops raw HTML, and shows the
// address of a link beside its text. Texts are cleaned once more when entities are
// resolved: one can stand for an escape character.
func (r *Renderer) Markdown(source string) string {
	w := &markdownWriter{Renderer: r, source: []byte(source)}
	root := markdownParser().Parser().Parse(text.NewReader(w.source))
	return w.blocks(root, r.Width)
}

// A markdownWriter renders the nodes of one document.
type markdownWriter struct {
	*Renderer
	source []byte
}

// Bar renders the blocks in a node, with an empty line between two.
func (w *markdownWriter) blocks(parent ast.Node, width int) string {
	var parts []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if part := strings.TrimRight(w.block(n, width), "\n"); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n")
}

func (w *markdownWriter) block(n ast.Node, width int) string {
	switch n := n.(type) {
	case *ast.Heading:
		return w.Style.Paint(Bold, Wrap(strings.Repeat("#", n.Level)+" "+w.inlines(n), width))
	case *ast.Paragraph, *ast.TextBlock:
		return Wrap(w.inlines(n), width)
	case *ast.Blockquote:
		return Indent(w.Style.Paint(Faint, "│ "), w.blocks(n, width-2))
	case *ast.List:
		return w.list(n, width)
	case *ast.FencedCodeBlock:
		return Indent("  ", w.code(string(n.Language(w.source)), w.lines(n)))
	case *ast.CodeBlock:
		return Indent("  ", w.lines(n))
	case *ast.ThematicBreak:
		return w.Style.Paint(Faint, strings.Repeat("─", min(width, 40)))
	case *ast.HTMLBlock:
		return ""
	case *east.Table:
		return w.tableNode(n, width)
	}
	return w.blocks(n, width)
}

// lines returns the lines of a code block.
func (w *markdownWriter) lines(n ast.Node) string {
	return cleantext.Text(string(n.Lines().Value(w.source)))
}

func (w *markdownWriter) list(list *ast.List, width int) string {
	var items []string
	number := list.Start
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		bullet := "• "
		if list.IsOrdered() {
			bullet = fmt.Sprintf("%d. ", number)
			number++
		}
		margin := strings.Repeat(" ", len([]rune(bullet)))
		content := Indent(margin, w.items(n, width-len(margin)))
		items = append(items, bullet+strings.TrimPrefix(content, margin))
	}
	return strings.Join(items, "\n")
}

// items renders the blocks of a list's item without empty lines.
func (w *markdownWriter) items(item ast.Node, width int) string {
	return strings.ReplaceAll(w.blocks(item, width), "\n\n", "\n")
}

func (w *markdownWriter) tableNode(table ast.Node, width int) string {
	var rows [][]string
	var right []bool
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, w.inlines(cell))
			if c, ok := cell.(*east.TableCell); ok && len(rows) == 0 {
				right = append(right, c.Alignment == east.AlignRight)
			}
		}
		for len(rows) > 0 && len(cells) < len(rows[0]) {
			cells = append(cells, "")
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		return ""
	}
	grid := Renderer{Style: w.Style, Width: width}
	return grid.Grid(rows, right)
}

// inlines renders what is in a paragraph.
func (w *markdownWriter) inlines(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		b.WriteString(w.inline(n))
	}
	return b.String()
}

func (w *markdownWriter) inline(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		return w.resolve(n.Value(w.source)) + lineBreak(n)
	case *ast.String:
		return w.resolve(n.Value)
	case *ast.CodeSpan:
		return w.Style.Paint(Cyan, w.codeSpan(n))
	case *ast.Emphasis:
		return w.Style.Paint(map[int]string{1: Italic, 2: Bold}[min(n.Level, 2)], w.inlines(n))
	case *east.Strikethrough:
		return "~" + w.inlines(n) + "~"
	case *ast.Link:
		return w.link(w.inlines(n), string(n.Destination))
	case *ast.AutoLink:
		return w.Style.Paint(Under, cleantext.Line(string(n.URL(w.source))))
	case *ast.Image:
		return w.link("[image: "+w.inlines(n)+"]", string(n.Destination))
	case *ast.RawHTML:
		return ""
	case *east.TaskCheckBox:
		if n.IsChecked {
			return "☑ "
		}
		return "☐ "
	}
	return w.inlines(n)
}

func lineBreak(n *ast.Text) string {
	switch {
	case n.HardLineBreak():
		return "\n"
	case n.SoftLineBreak():
		return " "
	}
	return ""
}

// resolve returns a text with its escapes and entities resolved.
func (w *markdownWriter) resolve(raw []byte) string {
	return cleantext.Text(string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))))
}

func (w *markdownWriter) codeSpan(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Value(w.source))
		}
	}
	return cleantext.Line(b.String())
}

// link returns a link's text with its address, which would be hidden otherwise.
func (w *markdownWriter) link(label, address string) string {
	address = cleantext.Line(string(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(address)))))
	if label == address || label == "" {
		return w.Style.Paint(Under, address)
	}
	return label + " (" + w.Style.Paint(Under, address) + ")"
}
