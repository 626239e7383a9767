package artifacts

import (
	"io"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/markup"
	"github.com/photon-beam/beam/web/internal/table"
)

// Content is what a page about an artifact, or a run's result, shows.
type Content struct {
	Artifact       generators.Artifact // with its body, unless it is shown as a table or a tree
	URL            templ.SafeURL       // of the content
	Back           string              // the page that it is from
	BackText       string
	As             string      // table, tree or, for the artifact as a run's page has it, empty
	At             string      // the part that is shown, as a JSON Pointer
	From           int         // how many members of a tree's root are left out
	Query          table.Query // of a table
	table          tableView
	tree           *jsonNode
	hasOtherFormat bool
}

// MaxContent is how much of a text a page about it shows, in bytes.
const MaxContent = markup.MaxText

// SetTable sets the page of a table to show.
func (p *Content) SetTable(columns []string, page table.Page) {
	media := mediaTypeOf(p.Artifact.MediaType)
	p.As, p.hasOtherFormat = "table", isJSON(media) && media != generators.TableType && media != generators.ChartType
	p.table = newBrowsedTable(p.Artifact.Title, p.URL, p.At, columns, p.Query, page)
	p.table.fullDataNote = "The CSV has all of it."
}

// ReadTree reads the part of a JSON text to show as a tree.
func (p *Content) ReadTree(text io.Reader) (err error) {
	p.As = "tree"
	p.tree, err = readTree(text, p.At, p.From)
	p.hasOtherFormat = err == nil && p.tree.open == '[' && len(p.tree.members) > 0 && p.tree.members[0].open == '{'
	return err
}

// CanBeTable reports whether the content can be shown both as a table and as a tree.
func (p *Content) CanBeTable() bool { return p.hasOtherFormat }

// TableURL returns the address of the page that shows the same part as a table.
func (p *Content) TableURL() templ.SafeURL { return tableURL(viewURL(p.URL), p.At, p.Query, "") }

// TreeURL returns the address of the page that shows a part as a tree.
func (p *Content) TreeURL(at string) templ.SafeURL { return treeURL(viewURL(p.URL), at, 0) }

// contentID begins the ids of the page's elements.
const contentID = "content"

// Body returns the content as it is shown.
func (p *Content) Body() templ.Component {
	switch p.As {
	case "table":
		return contentTable(p)
	case "tree":
		return contentTree(p)
	}
	return Figure(&p.Artifact, p.URL, contentID, false)
}
