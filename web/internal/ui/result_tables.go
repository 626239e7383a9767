package ui

import (
	"encoding/json"

	"github.com/photon-beam/beam/generators"
)

// tableOfObjects converts a list of objects, which need not have the same members, to
// a table; ok is false if raw is anything else.
func tableOfObjects(caption string, raw json.RawMessage) (v tableView, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return v, false
	}
	list, ok := parseTree(raw)
	if !ok || len(list.members) == 0 {
		return v, false
	}
	t := generators.Table{}
	at := map[string]int{}
	for _, o := range list.members {
		if o.open != '{' || len(o.names) == 0 {
			return v, false
		}
		for _, name := range o.names {
			if _, known := at[name]; !known {
				at[name] = len(t.Columns)
				t.Columns = append(t.Columns, name)
			}
		}
	}
	var rows []map[string]any
	if !decodeNumbers(raw, &rows) {
		return v, false
	}
	for _, o := range rows {
		row := make([]any, len(t.Columns))
		for name, value := range o {
			row[at[name]] = value
		}
		t.Rows = append(t.Rows, row)
	}
	v = newTableView(caption, t)
	v.fullDataNote = "The JSON below is complete."
	return v, true
}

// maxNestedTables is the most tables shown for one result.
const maxNestedTables = 3

// nestedTables returns a table for each list of objects among an object's members.
func nestedTables(raw json.RawMessage) []tableView {
	o, ok := parseTree(raw)
	var members map[string]json.RawMessage
	if !ok || o.open != '{' || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	var tables []tableView
	for _, name := range o.names {
		if v, ok := tableOfObjects(name, members[name]); ok && v.totalRows > 1 && len(tables) < maxNestedTables {
			tables = append(tables, v)
		}
	}
	return tables
}
