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
	caption string
	columns []column
	rows    [][]string
	total   int    // rows there are
	cols    int    // columns there are
	whole   string // where it is whole
}

type column struct {
	name    string
	numeric bool
	short   bool // nothing in it is worth a line break
}

// readTable reads the body of a table; ok is false if it is none.
func readTable(caption string, body []byte) (v tableView, ok bool) {
	var t generators.Table
	if !decodeNumbers(body, &t) {
		return v, false
	}
	return viewTable(caption, t), true
}

// decodeNumbers decodes JSON, its numbers with all their digits.
func decodeNumbers(body []byte, to any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(to) == nil
}

func viewTable(caption string, t generators.Table) tableView {
	v := tableView{caption: caption, whole: "Copied or downloaded, it is whole.", total: len(t.Rows), cols: len(t.Columns)}
	for _, name := range t.Columns[:min(len(t.Columns), maxTableCols)] {
		v.columns = append(v.columns, column{name: name})
	}
	for c := range v.columns {
		v.columns[c].numeric = numericColumn(t.Rows, c)
	}
	for c := range v.columns {
		v.columns[c].short = true
	}
	for _, row := range t.Rows[:min(len(t.Rows), maxTableRows)] {
		cells := make([]string, len(v.columns))
		for c := range cells {
			if c < len(row) {
				cells[c] = cellText(row[c])
			}
			v.columns[c].short = v.columns[c].short && len(cells[c]) <= 24
		}
		v.rows = append(v.rows, cells)
	}
	return v
}

// numericColumn tells whether a column holds numbers and nothing else.
func numericColumn(rows [][]any, c int) bool {
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
			if !decimal(v) {
				return false
			}
			some = true
		default:
			return false
		}
	}
	return some
}

// decimal tells whether a text is a number that people count with. What begins
// with a needless 0, such as a postcode, is not.
func decimal(s string) bool {
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
		return number(v)
	case bool:
		return strconv.FormatBool(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return cellText(string(raw))
}

// left says what of a table is not shown.
func (v tableView) left() string {
	var parts []string
	if v.total > len(v.rows) {
		parts = append(parts, "The first "+grouped(len(v.rows))+" of "+count(v.total, "row", "rows"))
	}
	if v.cols > len(v.columns) {
		parts = append(parts, "the first "+grouped(len(v.columns))+" of "+count(v.cols, "column", "columns"))
	}
	if parts == nil {
		return ""
	}
	return upper(strings.Join(parts, ", ")) + ". " + v.whole
}
