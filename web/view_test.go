package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
)

// newResultsPhoton returns a photon that makes a table of some rows, a large JSON, a chart,
// a sound, and a list of objects as its result.
func newResultsPhoton(rows int) *generators.Photon {
	return generators.New("results", func(_ context.Context, _ struct{}, yield generators.Yield) (any, error) {
		t := generators.Table{Columns: []string{"n", "city", "<b>"}}
		for i := range rows {
			t.Rows = append(t.Rows, []any{i, fmt.Sprintf("City %d", rows-i), "=1+1"})
		}
		yield(generators.TableOf("Cities", t))
		yield(generators.JSON("Deep", map[string]any{"list": make([]int, 50_000), "a/b": []any{map[string]any{"x": "<i>"}}}))
		yield(generators.ChartOf("Chart <1>", generators.Chart{Kind: generators.Areas, Labels: []string{"a", "\x00\u202e<b>"}, Series: []generators.Series{{Name: "s", Values: []float64{1, 2}}, {Name: "t", Values: []float64{3, 4}}}}))
		yield(generators.File("tone.wav", "audio/wav", make([]byte, 70_000)))
		yield(generators.File("film", "video/webm", make([]byte, 70_000)))
		return map[string]any{"rows": []any{map[string]any{"id": 2}, map[string]any{"id": 1, "name": "one"}}}, nil
	}, nil)
}

// The positions of what newResultsPhoton makes in the log, after its start.
const (
	cities = 3 + iota
	deepJSON
	areaChart
	tone
	film
)

// runResults runs newResultsPhoton and returns the path of the run.
func runResults(t testing.TB, rows int) (*browserSession, string) {
	t.Helper()
	p := newSite(t, "", newResultsPhoton(rows)).newSession()
	run := p.startRun("results", "{}")
	p.follow(run.Events, "", nil)
	return p, "/runs/" + run.ID
}

func (p *browserSession) view(run string, n int, query string) string {
	p.t.Helper()
	return readText(p.t, p.request("GET", fmt.Sprintf("%s/artifacts/%d/view%s", run, n, query), "", "Accept", "text/html"))
}

// A table of 100,000 rows is paged, sorted and filtered by the server, with links and a form.
func TestLargeTableIsBrowsed(t *testing.T) {
	p, run := runResults(t, 100_000)
	if page := readText(t, p.request("GET", run, "", "Accept", "text/html")); !strings.Contains(page, fmt.Sprintf(`href="%s/artifacts/%d/view">Show it`, run, cities)) || strings.Contains(page, "City 7") {
		t.Errorf("the run's page doesn't lead to the table: %s", page)
	}
	for query, want := range map[string][]string{
		"":                    {"1–200 of 100,000 rows", ">City 100000<", `page=2"`, `page=500"`, `sort=2"`, "&lt;b&gt;"},
		"?page=500":           {"99,801–100,000 of 100,000 rows", ">City 1<"},
		"?sort=-1&page=2":     {"201–400", ">99799<", `aria-sort="descending"`},
		"?q=CITY+1234&sort=1": {"1–11 of 11 rows that match, of 100,000", ">City 12340<", `value="CITY 1234"`},
		"?q=nowhere":          {"No row of 100,000 matches."},
	} {
		page := p.view(run, cities, query)
		for _, part := range want {
			if !strings.Contains(page, part) {
				t.Errorf("%q: the page lacks %s", query, part)
			}
		}
		if len(page) > 200_000 {
			t.Errorf("%q: the page has %d bytes", query, len(page))
		}
	}
	var asJSON struct {
		Rows            [][]any
		Matching, Pages int
	}
	res := p.request("GET", fmt.Sprintf("%s/artifacts/%d/view?sort=2&q=city+9", run, cities), "", "Accept", "application/json")
	if err := json.Unmarshal([]byte(readText(t, res)), &asJSON); err != nil || len(asJSON.Rows) != 200 || asJSON.Matching != 11_111 || asJSON.Rows[0][1] != "City 9" {
		t.Errorf("as JSON: %v %+v", err, asJSON)
	}
}

// A table is saved as CSV, all of it or what matches, with no cell that is a formula.
func TestTableIsSavedAsCSV(t *testing.T) {
	p, run := runResults(t, 5000)
	res := p.request("GET", fmt.Sprintf("%s/artifacts/%d/view?format=csv", run, cities), "")
	if got := readText(t, res); strings.Count(got, "\n") != 5001 || !strings.HasPrefix(got, "n,city,<b>\n0,City 5000,'=1+1\n") || !strings.Contains(res.Header.Get("Content-Disposition"), "Cities.csv") || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/csv") {
		t.Errorf("%v: %.100s", res.Header, got)
	}
	if got := readText(t, p.request("GET", fmt.Sprintf("%s/artifacts/%d/view?format=tsv&sort=-1&q=city+10", run, cities), "")); !strings.HasPrefix(got, "n\tcity\t<b>\n4990\tCity 10\t'=1+1\n4900\tCity 100\t") {
		t.Errorf("%.100s", got)
	}
	if got := readText(t, p.request("GET", run+"/result/view?at=/rows&format=csv&sort=1", "")); got != "id,name\n1,one\n2,\n" {
		t.Errorf("the result's table is %q", got)
	}
	if got := readText(t, p.request("GET", fmt.Sprintf("%s/artifacts/%d/view?format=csv", run, areaChart), "")); got != "label,s,t\na,1,3\n'\x00\u202e<b>,2,4\n" {
		t.Errorf("the chart's table is %q", got)
	}
}

// What a tree leaves out is reached by links.
func TestLargeTreeIsBrowsed(t *testing.T) {
	p, run := runResults(t, 1)
	for query, want := range map[string]string{
		"":                     `<a href="` + run + `/artifacts/4/view?as=tree&amp;at=%2Flist&amp;from=`,
		"?at=/list&from=49999": `<span class="na">49999</span>`,
		"?at=/a~1b/0":          `<span class="s">&#34;&lt;i&gt;&#34;</span>`,
		"?at=/a~1b&as=table":   `&lt;i&gt;</td>`,
	} {
		if page := p.view(run, deepJSON, query); !strings.Contains(page, want) || strings.Contains(page, "<i>") {
			t.Errorf("%q: the page lacks %s: %.3000s", query, want, page)
		}
	}
	if page := readText(t, p.request("GET", run+"/result/view", "", "Accept", "text/html")); !strings.Contains(page, "rows") {
		t.Errorf("the result's page is %s", page)
	}
}

// A chart is saved as a picture that contains nothing but itself.
func TestChartIsSavedAsSVG(t *testing.T) {
	p, run := runResults(t, 1)
	res := p.request("GET", fmt.Sprintf("%s/artifacts/%d/chart.svg", run, areaChart), "")
	svg := readText(t, res)
	if !strings.HasPrefix(svg, `<svg xmlns="http://www.w3.org/2000/svg"`) || !strings.Contains(svg, "Chart &lt;1&gt;") || strings.ContainsAny(svg, "\x00\u202e") || strings.Contains(svg, "class=") {
		t.Errorf("the picture is %s", svg)
	}
	h := res.Header
	if h.Get("Content-Type") != "image/svg+xml" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") {
		t.Errorf("its header is %v", h)
	}
	expectStatus(t, p.request("GET", fmt.Sprintf("%s/artifacts/%d/chart.svg", run, cities), ""), http.StatusNotFound)
}

// Sounds and videos of any size play, and are served in ranges.
func TestSoundsAndVideosPlay(t *testing.T) {
	p, run := runResults(t, 1)
	page := readText(t, p.request("GET", run, "", "Accept", "text/html"))
	for n, want := range map[int]string{tone: "audio/wav", film: "video/webm"} {
		url := fmt.Sprintf("%s/artifacts/%d", run, n)
		if !strings.Contains(page, `controls preload="none" src="`+url+`"`) {
			t.Errorf("the page doesn't play %s", url)
		}
		res := p.request("GET", url, "", "Range", "bytes=10-19")
		if body := readText(t, res); res.StatusCode != http.StatusPartialContent || len(body) != 10 || res.Header.Get("Content-Type") != want || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s %v", url, res.Status, res.Header)
		}
	}
}

// What can't be shown as asked for is refused, with what would be right; and to others,
// as if it weren't there.
func TestRefusedViews(t *testing.T) {
	p, run := runResults(t, 10)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/artifacts/3/view?sort=9":            {400, "from 1 to 3"},
		"/artifacts/3/view?sort=x":            {400, "sort must be a number"},
		"/artifacts/3/view?page=-1":           {400, "page must be a number"},
		"/artifacts/3/view?as=pie":            {400, "table or tree"},
		"/artifacts/3/view?format=xlsx":       {400, "csv or tsv"},
		"/artifacts/4/view?at=list":           {400, "JSON Pointer"},
		"/artifacts/4/view?at=/nothing":       {404, "nothing at this JSON Pointer"},
		"/artifacts/4/view?as=table":          {404, "no table"},
		"/artifacts/4/view?as=table&at=/list": {404, "no table"},
		"/artifacts/6/view?as=tree":           {422, "not valid JSON"},
		"/artifacts/99/view":                  {404, "no such run"},
		"/artifacts/x/view":                   {404, "not found"},
	} {
		res := p.request("GET", run+path, "")
		if body := readText(t, res); res.StatusCode != want.status || !strings.Contains(body, want.text) {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
	}
	other := p.site.newSession()
	for _, path := range []string{"/artifacts/3/view", "/artifacts/3/view?format=csv", "/artifacts/5/chart.svg", "/result/view"} {
		if res := other.request("GET", run+path, ""); res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: another caller got %s", path, res.Status)
		}
	}
}

// BenchmarkTablePage measures a page of a table of 100,000 rows, over HTTP.
func BenchmarkTablePage(b *testing.B) {
	p, run := runResults(b, 100_000)
	for name, query := range map[string]string{"first": "", "sorted": "?sort=2", "filtered": "?q=city+12", "filtered and sorted": "?q=city+12&sort=-1"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.view(run, cities, query)
			}
		})
	}
}
