package artifacts

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/chart"
	"github.com/photon-beam/beam/web/internal/table"
)

// Limits on what a table shows.
const (
	maxTableRows  = table.RowsPerPage
	maxTableCols  = 60
	maxCell       = 500      // bytes
	maxTableBytes = 64 << 10 // of all cells, unless each is shorter than minCell
	minCell       = 12
)

// A tableView is a table prepared for rendering.
type tableView struct {
	caption      string
	columns      []tableColumn
	rows         [][]string
	totalRows    int           // rows in the data
	totalColumns int           // columns in the data
	fullDataNote string        // where the whole table can be had
	cutCells     bool          // some cells are not shown whole
	csv          templ.SafeURL // of the whole table; empty if it can't be had
	browse       *tableBrowse  // nil if the page has all rows, or can't load others
}

type tableColumn struct {
	name    string
	numeric bool
	noWrap  bool // all cells are short
}

// parseTable parses the body of a table; ok is false if it is not one.
func parseTable(caption string, body []byte) (v tableView, ok bool) {
	var t generators.Table
	longer := func(row []any) bool { return len(row) > len(t.Columns) } // in logs of earlier versions
	if !decodeNumbers(body, &t) || slices.ContainsFunc(t.Rows, longer) {
		return v, false
	}
	return newTableView(caption, t), true
}

// decodeNumbers decodes JSON and keeps all digits of its numbers.
func decodeNumbers(body []byte, to any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(to) == nil
}

func newTableView(caption string, t generators.Table) tableView {
	v := tableView{caption: caption, fullDataNote: "Copy or download the table to get all of it.", totalRows: len(t.Rows), totalColumns: len(t.Columns)}
	for _, name := range t.Columns[:min(len(t.Columns), maxTableCols)] {
		v.columns = append(v.columns, tableColumn{name: cellText(name, maxCell)})
	}
	for c := range v.columns {
		v.columns[c].numeric = isNumericColumn(t.Rows, c)
	}
	for c := range v.columns {
		v.columns[c].noWrap = true
	}
	for _, row := range t.Rows[:min(len(t.Rows), maxTableRows)] {
		cells := make([]string, len(v.columns))
		for c := range cells {
			if c < len(row) {
				cells[c] = cellText(row[c], maxCell)
				v.cutCells = v.cutCells || len(cells[c]) > maxCell
			}
			v.columns[c].noWrap = v.columns[c].noWrap && len(cells[c]) <= 24
		}
		v.rows = append(v.rows, cells)
	}
	v.shortenCells()
	return v
}

// shortenCells shortens the longest cells of a table whose cells are too long together, so
// that a page has a limited size.
func (v *tableView) shortenCells() {
	size := 0
	for _, row := range v.rows {
		for _, cell := range row {
			size += len(cell)
		}
	}
	if size <= maxTableBytes {
		return
	}
	most := max(maxTableBytes/(len(v.rows)*len(v.columns)), minCell)
	for _, row := range v.rows {
		for c, cell := range row {
			if len(cell) > most+len(" …") {
				row[c], v.cutCells = humanize.TruncateBytes(cell, most, " …"), true
			}
		}
	}
}

// isNumericColumn reports whether a column holds only numbers.
func isNumericColumn(rows [][]any, c int) bool {
	some := false
	for _, row := range rows {
		if c >= len(row) || row[c] == nil {
			continue
		}
		switch v := row[c].(type) {
		case json.Number, float64, int, int64:
			some = true
		case string:
			if v == "" {
				continue
			}
			if !isDecimal(v) {
				return false
			}
			some = true
		default:
			return false
		}
	}
	return some
}

// isDecimal reports whether a text is a quantity. Text with a leading zero, such as a
// postal code, is not.
func isDecimal(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if strings.Trim(digits, "0123456789.") != "" || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return false
	}
	_, err := strconv.ParseFloat(digits, 64)
	return err == nil
}

// cellText returns a cell as text of at most about that many bytes.
func cellText(v any, most int) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if len(v) > most {
			v = strings.ToValidUTF8(v[:most], "") + " …"
		}
		return cleantext.Text(v)
	case json.Number:
		return cellText(v.String(), most)
	case json.RawMessage:
		return cellText(string(v), most)
	case float64:
		return humanize.Number(v)
	case bool:
		return strconv.FormatBool(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return cellText(string(raw), most)
}

// omittedNote says how much of the table is shown, if not all.
func (v tableView) omittedNote() string {
	var parts []string
	if v.totalRows > len(v.rows) && v.browse == nil {
		parts = append(parts, "the first "+humanize.Thousands(len(v.rows))+" of "+humanize.CountOf(v.totalRows, "row", "rows"))
	}
	if v.totalColumns > len(v.columns) {
		parts = append(parts, "the first "+humanize.Thousands(len(v.columns))+" of "+humanize.CountOf(v.totalColumns, "column", "columns"))
	}
	if parts == nil && v.cutCells {
		return "Long texts are shortened. " + v.fullDataNote
	}
	if parts == nil {
		return ""
	}
	return "Showing " + strings.Join(parts, " and ") + ". " + v.fullDataNote
}

// newChartTable returns the data of a chart as a table.
func newChartTable(caption string, c chart.Chart) tableView {
	v := newTableView(caption, c.Table())
	v.totalRows = c.Rows()
	return v
}
