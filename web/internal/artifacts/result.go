package artifacts

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/web/internal/jsonstream"
	"github.com/photon-beam/beam/web/internal/table"
)

// A resultTable is a list of objects in a result, as a table.
type resultTable struct {
	tableView
	at string // where it is in the result, as a JSON Pointer
}

// tableOfObjects returns the list of objects that a JSON Pointer points at, which need not
// have the same members, as a table; ok is false if there is anything else.
func tableOfObjects(caption string, raw json.RawMessage, at string) (v resultTable, ok bool) {
	ctx := context.Background() // everything is in memory
	t, err := table.OpenList(ctx, bytes.NewReader(raw), at)
	if err != nil {
		return v, false
	}
	page, err := t.Read(ctx, table.Query{}, maxTableCols)
	if err != nil {
		return v, false
	}
	v.tableView = newBrowsedTable(caption, "", at, t.Columns, table.Query{}, page)
	v.fullDataNote, v.at = "The JSON is complete.", at
	return v, true
}

// within returns a table of the content at an address, with links to its other pages if it
// doesn't show all of its rows.
func (v resultTable) within(ctx context.Context, content templ.SafeURL) tableView {
	v.browse = nil
	return v.withBrowse(ctx, content, v.at)
}

// maxNestedTables is the most tables shown for one result.
const maxNestedTables = 3

// nestedTables returns a table for each list of objects among an object's members.
func nestedTables(raw json.RawMessage) (tables []resultTable) {
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return nil
	}
	rawjson.EachMember(raw, func(name []byte, value json.RawMessage) {
		if value[0] != '[' || len(tables) == maxNestedTables {
			return
		}
		at := jsonstream.Child("", string(name))
		if v, ok := tableOfObjects(string(name), raw, at); ok && v.totalRows > 1 {
			tables = append(tables, v)
		}
	})
	return tables
}
