package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
)

func TestJSONTrees(t *testing.T) {
	for name, raw := range map[string]string{
		"deeper than encoding/json reads": strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
		"none":                            `{"a":`,
		"empty":                           ``,
	} {
		if got := renderHTML(t, jsonTreeView([]byte(raw), "")); !strings.HasPrefix(got, "<pre") {
			t.Errorf("%s: %.80s", name, got)
		}
	}
	deep := renderHTML(t, jsonTreeView([]byte(strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), "/view"))
	if n := strings.Count(deep, "<details"); n != maxDepth+1 || !strings.Contains(deep, `<a href="/view?as=tree&amp;at=`+strings.Repeat("%2F0", maxDepth+1)+`">nested deeper</a>`) {
		t.Errorf("%d levels are shown: %s", n, deep)
	}
	wide := make([]int, 10_000)
	raw, _ := json.Marshal(map[string]any{"list": wide})
	got := renderHTML(t, jsonTreeView(raw, ""))
	if n := strings.Count(got, `class="leaf"`); n > maxNodes || !strings.Contains(got, "more</span></div>") {
		t.Errorf("%d leaves are shown", n)
	}
	if got := renderHTML(t, jsonTreeView([]byte(`{"b":1.50,"a":12345678901234567890}`), "")); !strings.Contains(got, "1.50") || !strings.Contains(got, "12345678901234567890") || strings.Index(got, ">b<") > strings.Index(got, ">a<") {
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

func TestSplitURL(t *testing.T) {
	for _, tt := range []struct {
		in, shown string
		link      bool
		warnings  int
	}{
		{"https://example.com/a?b#c", "https://|example.com|/a?b#c", true, 0},
		{"http://127.0.0.1:3008/", "http://|127.0.0.1:3008|/", true, 1},
		{"http://example.com", "http://|example.com|", true, 1},
		{"https://bank.example@evil.example/bank.example", "https://bank.example@|evil.example|/bank.example", true, 1},
		{"https://bank.example/@evil.example", "https://|bank.example|/@evil.example", true, 0},
		{"https://xn--e1awd7f.example/", "https://|xn--e1awd7f.example|/", true, 1},
		{"https://аpple.example/", "https://|%D0%B0pple.example|/", true, 1},
		{"https://example.com/\u202egro", "https://|example.com|/%E2%80%AEgro", true, 0},
		{"javascript:alert(1)", "javascript:alert(1)||", false, 0},
		{"//example.com", "//example.com||", false, 0},
		{"https://%zz", "https://%zz||", false, 0},
	} {
		a := splitURL(tt.in)
		if got := a.before + "|" + a.host + "|" + a.after; got != tt.shown || (a.link != "") != tt.link || len(a.warnings) != tt.warnings {
			t.Errorf("%s: %s, link %q, %q", tt.in, got, a.link, a.warnings)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct{ lo, step, want float64 }{{1, 2, 2}, {0, 0.5, 0}, {-3, 2, -2}, {5, 0, 5}, {4, 2, 4}} {
		if got := alignUp(tt.lo, tt.step); got != tt.want {
			t.Errorf("alignUp(%v, %v) = %v, want %v", tt.lo, tt.step, got, tt.want)
		}
	}
}

func TestFormatTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 ms", 50 * time.Millisecond: "50 ms", 1500 * time.Millisecond: "1.5 s", 59990 * time.Millisecond: "0 min 59 s", 61 * time.Second: "1 min 1 s", 3 * time.Hour: "3 h 0 min", 80 * time.Hour: "3 days"} {
		if got := humanize.Duration(d); got != want {
			t.Errorf("took(%v) = %q, want %q", d, got, want)
		}
	}
	start := time.Unix(0, 0)
	for d, want := range map[time.Duration]string{-time.Second: "0.0", 340 * time.Millisecond: "0.3", 59940 * time.Millisecond: "59.9", 59960 * time.Millisecond: "0:59", 83 * time.Second: "1:23", 3723 * time.Second: "1:02:03"} {
		if got := formatOffset(start, start.Add(d)); got != want {
			t.Errorf("offset(%v) = %q, want %q", d, got, want)
		}
	}
}

func BenchmarkRunPage500(b *testing.B) {
	w := newLogWriter("{}")
	for i := range 500 {
		w.events(generators.Statusf("event %d of a run that goes on", i))
	}
	c := testChrome()
	var buf bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		buf.Reset()
		if err := RunPage(c, w.run).Render(b.Context(), &buf); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(buf.Len()))
}

func BenchmarkPatches(b *testing.B) {
	w := newLogWriter("{}")
	w.takeChanges()
	for i := range 100 {
		w.events(generators.Statusf("event %d of a run that goes on", i))
	}
	changes := w.takeChanges()
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range RunPatches(w.run, changes) {
			var buf bytes.Buffer
			if err := p.Component.Render(b.Context(), &buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkArtifacts(b *testing.B) {
	w := newLogWriter("{}")
	for _, a := range artifacts() {
		w.events(a)
	}
	b.ReportAllocs()
	for b.Loop() {
		var buf bytes.Buffer
		if err := Rows(w.run).Render(b.Context(), &buf); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTimesAreShownInTheReadersZone checks that a time from a link is converted to the
// browser's time zone.
func TestTimesAreShownInTheReadersZone(t *testing.T) {
	fields := ask.Fields{{Name: "at", Type: "string", Format: "date-time"}}
	page := func(at string) string {
		return renderHTML(t, PhotonDetails(Chrome{}, PhotonPage{Name: "p", Form: form.FromFields(fields, url.Values{"at": {at}})}))
	}
	if got := page("2026-05-17T18:30:00-04:00"); !strings.Contains(got, `value="2026-05-17T22:30"`) || !strings.Contains(got, "new Date(1779057000000)") {
		t.Errorf("a moment of a link: %s", got)
	}
	if got := page("2026-05-17T18:30"); !strings.Contains(got, `value="2026-05-17T18:30"`) || strings.Contains(got, "new Date(") {
		t.Errorf("what was typed is changed: %s", got)
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
