package artifacts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
)

func renderHTML(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJSONTrees(t *testing.T) {
	for name, raw := range map[string]string{
		"deeper than encoding/json reads": strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
		"none":                            `{"a":`,
		"empty":                           ``,
	} {
		if got := renderHTML(t, JSON([]byte(raw), "")); !strings.HasPrefix(got, "<pre") {
			t.Errorf("%s: %.80s", name, got)
		}
	}
	deep := renderHTML(t, JSON([]byte(strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), "/view"))
	if n := strings.Count(deep, "<details"); n != maxDepth+1 || !strings.Contains(deep, `<a href="/view?as=tree&amp;at=`+strings.Repeat("%2F0", maxDepth+1)+`">nested deeper</a>`) {
		t.Errorf("%d levels are shown: %s", n, deep)
	}
	wide := make([]int, 10_000)
	raw, _ := json.Marshal(map[string]any{"list": wide})
	got := renderHTML(t, JSON(raw, ""))
	if n := strings.Count(got, `class="leaf"`); n > maxNodes || !strings.Contains(got, "more</span></div>") {
		t.Errorf("%d leaves are shown", n)
	}
	if got := renderHTML(t, JSON([]byte(`{"b":1.50,"a":12345678901234567890}`), "")); !strings.Contains(got, "1.50") || !strings.Contains(got, "12345678901234567890") || strings.Index(got, ">b<") > strings.Index(got, ">a<") {
		t.Errorf("numbers or order are not kept: %s", got)
	}
}

func TestTables(t *testing.T) {
	big := generators.Table{Columns: make([]string, 100)}
	for range 1000 {
		big.Rows = append(big.Rows, make([]any, 100))
	}
	v := newTableView("t", big)
	if len(v.rows) != maxTableRows || len(v.columns) != maxTableCols || v.omittedNote() != "Showing the first 200 of 1,000 rows and the first 60 of 100 columns. Copy or download the table to get all of it." {
		t.Errorf("%d rows of %d columns: %s", len(v.rows), len(v.columns), v.omittedNote())
	}
	raw, _ := json.Marshal(generators.Table{Columns: []string{"a", "b", "c"}, Rows: [][]any{{1, "x"}, {nil, "y", true}, {2.50, 3}}})
	v, ok := parseTable("t", raw)
	if !ok || !v.columns[0].numeric || v.columns[1].numeric || v.columns[2].numeric {
		t.Errorf("the columns are %+v", v.columns)
	}
	if got := fmt.Sprint(v.rows); got != "[[1 x ] [ y true] [2.5 3 ]]" {
		t.Errorf("the rows are %s", got)
	}
	for s, want := range map[string]bool{"1": true, "-1.5": true, "0": true, "0.5": true, "007": false, "1e5": false, "NaN": false, "-": false, "1.2.3": false, "2026-01": false, "": false} {
		if isDecimal(s) != want {
			t.Errorf("decimal(%q) is not %v", s, want)
		}
	}
	for _, body := range []string{`[]`, `{"columns":["name"],"rows":[["Bob",1000000]]}`} {
		if _, ok := parseTable("t", []byte(body)); ok {
			t.Errorf("%s was rendered as a table", body)
		}
	}
}

// TestAListOfObjectsIsATable checks that a table has a column for every member of a list
// of objects.
func TestAListOfObjectsIsATable(t *testing.T) {
	v, ok := tableOfObjects("Result", json.RawMessage(`[{"a":1,"b":"x"},{"b":"y","c":{"d":12345678901234567890}},{"a":null}]`), "")
	var names []string
	for _, c := range v.columns {
		names = append(names, c.name)
	}
	if !ok || !slices.Equal(names, []string{"a", "b", "c"}) || !slices.Equal(v.rows[1], []string{"", "y", `{"d":12345678901234567890}`}) || !v.columns[0].numeric {
		t.Errorf("%v: %v %v", ok, names, v.rows)
	}
	for _, other := range []string{`[]`, `[1]`, `[{}]`, `{"a":1}`, `[{"a":1},2]`, `"x"`, ``} {
		if _, ok := tableOfObjects("", json.RawMessage(other), ""); ok {
			t.Errorf("%s is a table", other)
		}
	}
	if tables := nestedTables(json.RawMessage(`{"n":1,"list":[{"a":1},{"a":2}],"one":[{"a":1}]}`)); len(tables) != 1 || tables[0].caption != "list" {
		t.Errorf("within an object: %v", tables)
	}
}
