package web_test

import (
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/docs"
)

// Every document is a page, and every link between documents leads to a heading that is there.
func TestDocs(t *testing.T) {
	p := newSite(t, "").newSession()
	index := p.page("/docs")
	entries, err := fs.ReadDir(docs.Files, ".")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	pages := map[string]string{}
	for _, e := range entries {
		url := "/docs/" + strings.TrimSuffix(e.Name(), ".md")
		if !strings.Contains(index, `href="`+url+`"`) {
			t.Errorf("%s isn't listed", url)
		}
		pages[url] = p.page(url)
		ids[url] = true
		for _, m := range regexp.MustCompile(`<h[2-6] id="([^"]+)"`).FindAllStringSubmatch(pages[url], -1) {
			ids[url+"#"+m[1]] = true
		}
	}
	for url, page := range pages {
		for _, m := range regexp.MustCompile(`href="((?:/docs/[^"]*)?(?:#[^"]*)?)"`).FindAllStringSubmatch(page, -1) {
			to := m[1]
			if strings.HasPrefix(to, "#") {
				to = url + to
			}
			if !ids[to] && to != url+"#main" {
				t.Errorf("%s links to %s, which isn't there", url, to)
			}
		}
	}
	if strings.Contains(pages["/docs/apps"], "its form beneath the call") {
		t.Error("the text of a picture is shown as a paragraph")
	}
	if found := p.page("/docs?q=idempotency+key"); !strings.Contains(found, `href="/docs/photons#steps-and-durability"`) {
		t.Error("the search doesn't find a section")
	}
	if found := p.page("/docs?q=xyzzy"); !strings.Contains(found, "Nothing in the documentation has these words.") {
		t.Error("no word that nothing was found")
	}
	if res := p.request("GET", "/docs/none", "", "Accept", "text/html"); res.StatusCode != http.StatusNotFound {
		t.Error(res.Status)
	}
}
