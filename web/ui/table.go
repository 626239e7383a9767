package ui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/generators"
)

// What a table shows at most.
const (
	maxTableRows = 200
	maxTableCols = 60
	maxCell      = 500 // bytes
)

// tableView is a table as it is drawn.
type tableView struct {
	caption      string
	columns      []tableColumn
	rows         [][]string
	totalRows    int    // rows there are
	totalColumns int    // columns there are
	fullDataNote string // where it is whole
}

type tableColumn struct {
	name    string
	numeric bool
	noWrap  bool // nothing in it is worth a line break
}

// parseTable reads the body of a table; ok is false if it is none.
func parseTable(caption string, body []byte) (v tableView, ok bool) {
	var t generators.Table
	if !decodeNumbers(body, &t) {
		return v, false
	}
	return newTableView(caption, t), true
}

// decodeNumbers decodes JSON, its numbers with all their digits.
func decodeNumbers(body []byte, to any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(to) == nil
}

func newTableView(caption string, t generators.Table) tableView {
	v := tableView{caption: caption, fullDataNote: "Copied or downloaded, it is whole.", totalRows: len(t.Rows), totalColumns: len(t.Columns)}
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

// isNumericColumn tells whether a column holds numbers and nothing else.
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

// isDecimal tells whether a text is a number that people count with. What begins
// with a needless 0, such as a postcode, is not.
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
			return strings.ToValidUTF8(v[:maxCell], "") + " …"
		}
		return v
	case json.Number:
		return v.String()
	case float64:
		return formatNumber(v)
	case bool:
		return strconv.FormatBool(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return cellText(string(raw))
}

// omittedNote says what of a table is not shown.
func (v tableView) omittedNote() string {
	var parts []string
	if v.totalRows > len(v.rows) {
		parts = append(parts, "The first "+groupThousands(len(v.rows))+" of "+formatCount(v.totalRows, "row", "rows"))
	}
	if v.totalColumns > len(v.columns) {
		parts = append(parts, "the first "+groupThousands(len(v.columns))+" of "+formatCount(v.totalColumns, "column", "columns"))
	}
	if parts == nil {
		return ""
	}
	return capitalize(strings.Join(parts, ", ")) + ". " + v.fullDataNote
}
