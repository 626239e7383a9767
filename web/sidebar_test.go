package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
)

func answerNothing(context.Context, json.RawMessage, generators.Yield) (json.RawMessage, error) {
	return nil, nil
}

// serverTool returns a photon as package catalogue makes it of a server's tool.
func serverTool(t testing.TB, server, name, title string) *generators.Photon {
	t.Helper()
	const schema = `{"type":"object"}`
	input, err := generators.ParseSchema(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return generators.FromSchema(server+"__"+name, input, nil, answerNothing, &generators.Options{
		Title: title, Group: server, Definition: json.RawMessage(`{"name":"` + name + `","inputSchema":` + schema + `}`),
	})
}

// The tools of each upstream are a folded group of the sidebar, with short names. Of a
// server with very many tools it has the first, the one whose page it is, and a link to all.
func TestSidebarOfUpstreams(t *testing.T) {
	photons := []*generators.Photon{serverTool(t, "files", "read_file", ""), serverTool(t, "files", "write", "Write <a> file")}
	for i := range 1000 {
		photons = append(photons, serverTool(t, "many", fmt.Sprintf("t%04d", i), ""))
	}
	p := newSite(t, "", photons...).newSession()
	home := readText(t, p.request("GET", "/runs", ""))
	for _, want := range []string{
		`<details class="server"><summary><span class="name">files</span>`, `title="files__read_file">read_file</a>`, `>Write &lt;a&gt; file</a>`,
		`1,000<span class="hidden"> tools</span>`, `href="/?q=many__">All 1,000 tools</a>`,
	} {
		if !strings.Contains(home, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if n := strings.Count(home, `href="/photons/many__`); n != 50 || len(home) > 40<<10 {
		t.Errorf("the page has %d bytes, with %d of 1,000 tools", len(home), n)
	}
	page := readText(t, p.request("GET", "/photons/many__t0999", ""))
	if !strings.Contains(page, `<details class="server" open><summary><span class="name">many</span>`) || !strings.Contains(page, `title="many__t0999" aria-current="page">t0999</a>`) {
		t.Error("the group of the tool whose page it is isn't open, or has no such tool")
	}
	found := readText(t, p.request("GET", "/?q=files__", ""))
	if !strings.Contains(found, "files__read_file</code>") {
		t.Error("a search for a server's tools doesn't find them")
	}
}

// The first page lists 50 photons and leads to the others, one page after the other, also of
// those that match a search. The sidebar has a bounded number of links for any number of
// servers, always that of the page's own photon.
func TestPagesOfPhotons(t *testing.T) {
	var photons []*generators.Photon
	for i := range 220 {
		photons = append(photons, serverTool(t, fmt.Sprintf("server%02d", i%11), fmt.Sprintf("t%03d", i), ""))
	}
	p := newSite(t, "", photons...).newSession()
	for _, tt := range []struct {
		address     string
		pages, want int
	}{{"/", 5, 220}, {"/?q=server0", 4, 200}, {"/?q=server03", 1, 20}, {"/?q=nothing", 1, 0}} {
		seen, pages := map[string]bool{}, 0
		for address := tt.address; address != ""; pages++ {
			main := textAfter(p.page(address), `id="main"`)
			for _, m := range cardName.FindAllStringSubmatch(main, -1) {
				seen[m[1]] = true
			}
			address = ""
			if m := nextPhotons.FindStringSubmatch(main); m != nil {
				address = html.UnescapeString(m[1])
			}
		}
		if len(seen) != tt.want || pages != tt.pages {
			t.Errorf("%s: %d photons on %d pages, want %d on %d", tt.address, len(seen), pages, tt.want, tt.pages)
		}
	}
	if res := p.request("GET", "/?after=unknown", ""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("after an unknown photon: %s", res.Status)
	}
	page := p.page("/photons/server10__t219")
	if n := strings.Count(page, `<a href="/photons/server`); n > 110 || !strings.Contains(page, `title="server10__t219" aria-current="page">t219</a>`) {
		t.Errorf("the sidebar has %d links, or not that of its page's own photon", n)
	}
}

var (
	cardName    = regexp.MustCompile(`<code>(server[0-9]+__t[0-9]+)</code>`)
	nextPhotons = regexp.MustCompile(`href="([^"]*)">More photons</a>`)
)

// textAfter returns the text after the first part; empty if there is none.
func textAfter(text, part string) string {
	_, after, _ := strings.Cut(text, part)
	return after
}
