package artifacts

import (
	"context"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/medium"
	"github.com/photon-beam/beam/web/internal/table"
)

// A tableBrowse is what leads from a page of a table to its others.
type tableBrowse struct {
	view  templ.SafeURL // of the page that shows the table alone
	at    string        // where the table is in the content, as a JSON Pointer
	query table.Query
	page  table.Page // without its rows
}

// newBrowsedTable returns a page of a table whose content is at an address. At is where the
// table is in it, as a JSON Pointer.
func newBrowsedTable(caption string, content templ.SafeURL, at string, columns []string, q table.Query, p table.Page) tableView {
	v := newTableView(caption, generators.Table{Columns: columns, Rows: p.Rows})
	v.totalRows = p.Total
	p.Rows = nil
	q.Page = p.Number
	v.browse = &tableBrowse{view: viewURL(content), at: at, query: q, page: p}
	return v
}

// withBrowse returns v with links to its other pages if it doesn't show all of its table.
func (v tableView) withBrowse(ctx context.Context, content templ.SafeURL, at string) tableView {
	if v.csv = tableURL(viewURL(content), at, table.Query{}, "csv"); medium.Of(ctx) != medium.Site || content == "" {
		v.csv = ""
		return v
	}
	if v.totalRows <= len(v.rows) {
		return v
	}
	v.browse = &tableBrowse{view: viewURL(content), at: at, query: table.Query{Page: 1}, page: table.Page{
		Number: 1, Pages: (v.totalRows + table.RowsPerPage - 1) / table.RowsPerPage, Matching: v.totalRows, Total: v.totalRows,
	}}
	return v
}

// MaxColumns is how many columns of a table are shown.
const MaxColumns = maxTableCols

// viewURL returns the address of the page that shows content alone.
func viewURL(content templ.SafeURL) templ.SafeURL { return content + "/view" }

// ViewURL returns the address of the page that shows content alone; empty where that can't be
// referred to.
func ViewURL(ctx context.Context, content templ.SafeURL) templ.SafeURL {
	if medium.Of(ctx) != medium.Site {
		return ""
	}
	return viewURL(content)
}

// tableURL returns the address of a page of a table, or of the whole table in a format.
func tableURL(view templ.SafeURL, at string, q table.Query, format string) templ.SafeURL {
	query := url.Values{"as": {"table"}}
	if at != "" {
		query.Set("at", at)
	}
	if q.Text != "" {
		query.Set("q", q.Text)
	}
	if sort := sortValue(q); sort != "" {
		query.Set("sort", sort)
	}
	if q.Page > 1 && format == "" {
		query.Set("page", strconv.Itoa(q.Page))
	}
	if format != "" {
		query.Set("format", format)
	}
	return view + templ.SafeURL("?"+query.Encode())
}

// sortValue returns the parameter sort: the number of a column, negative for descending.
func sortValue(q table.Query) string {
	switch {
	case q.Sort == 0:
		return ""
	case q.Descending:
		return strconv.Itoa(-q.Sort)
	}
	return strconv.Itoa(q.Sort)
}

func (b *tableBrowse) pageURL(n int) templ.SafeURL {
	q := b.query
	q.Page = n
	return tableURL(b.view, b.at, q, "")
}

// sortURL returns the address of the table sorted by a column, from 0: ascending, then
// descending, then in its own order.
func (b *tableBrowse) sortURL(column int) templ.SafeURL {
	q := table.Query{Text: b.query.Text, Sort: column + 1}
	if b.query.Sort == q.Sort {
		q.Descending = true
		if b.query.Descending {
			q.Sort, q.Descending = 0, false
		}
	}
	return tableURL(b.view, b.at, q, "")
}

// ariaSort returns how the table is sorted by a column, from 0; empty if it isn't.
func (b *tableBrowse) ariaSort(column int) string {
	switch {
	case b.query.Sort != column+1:
		return ""
	case b.query.Descending:
		return "descending"
	}
	return "ascending"
}

// span says which rows the page has.
func (b *tableBrowse) span() string {
	if b.page.Matching == 0 {
		return "No row of " + humanize.Thousands(b.page.Total) + " matches."
	}
	first := (b.page.Number-1)*table.RowsPerPage + 1
	text := humanize.Thousands(first) + "–" + humanize.Thousands(min(first+table.RowsPerPage-1, b.page.Matching)) + " of " + humanize.CountOf(b.page.Matching, "row", "rows")
	if b.query.Text != "" {
		text += " that match, of " + humanize.Thousands(b.page.Total)
	}
	return text
}

// svgURL returns the address of a chart as a picture.
func svgURL(content templ.SafeURL) templ.SafeURL { return content + "/chart.svg" }
