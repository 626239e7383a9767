package ui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// Limits on what a table shows.
const (
	maxTableRows = 200
	maxTableCols = 60
	maxCell      = 500 // bytes
)

// A tableView is a table prepared for rendering.
type tableView struct {
	caption      string
	columns      []tableColumn
	rows         [][]string
	totalRows    int    // rows in the data
	totalColumns int    // columns in the data
	fullDataNote string // where the whole table can be had
}

type tableColumn struct {
	name    string
	numeric bool
	noWrap  bool // all cells are short
}

// parseTable parses the body of a table; ok is false if it is not one.
func parseTable(caption string, body []byte) (v tableView, ok bool) {
	var t generators.Table
	if !decodeNumbers(body, &t) {
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
		v.columns = append(v.columns, tableColumn{name: name})
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
				cells[c] = cellText(row[c])
			}
			v.columns[c].noWrap = v.columns[c].noWrap && len(cells[c]) <= 24
		}
		v.rows = append(v.rows, cells)
	}
	return v
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

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if len(v) > maxCell {
			v = strings.ToValidUTF8(v[:maxCell], "") + " …"
		}
		return cleantext.Visible(v)
	case json.Number:
		return v.String()
	case float64:
		return humanize.Number(v)
	case bool:
		return strconv.FormatBool(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return cellText(string(raw))
}

// omittedNote says how much of the table is shown, if not all.
func (v tableView) omittedNote() string {
	var parts []string
	if v.totalRows > len(v.rows) {
		parts = append(parts, "the first "+humanize.Thousands(len(v.rows))+" of "+humanize.CountOf(v.totalRows, "row", "rows"))
	}
	if v.totalColumns > len(v.columns) {
		parts = append(parts, "the first "+humanize.Thousands(len(v.columns))+" of "+humanize.CountOf(v.totalColumns, "column", "columns"))
	}
	if parts == nil {
		return ""
	}
	return "Showing " + strings.Join(parts, " and ") + ". " + v.fullDataNote
}
