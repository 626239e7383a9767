package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/photon-beam/beam/web"
)

// The theme is kept for the browser, and every page has it without script.
func TestSettings(t *testing.T) {
	p := newSiteWith(t, func(c *web.Config) { c.Version, c.MCP = "v1.2.3", noMCP{} }).newSession()
	page := p.page("/settings")
	for _, want := range []string{"v1.2.3", p.URL + "/mcp", "Claude Code 2.1", "session:"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for theme, want := range map[string]string{"dark": `data-theme="dark"`, "light": `data-theme="light"`} {
		expectStatus(t, p.postForm("/settings", url.Values{"theme": {theme}}), http.StatusSeeOther)
		if !strings.Contains(p.page("/runs"), want) {
			t.Errorf("the pages aren't %s", theme)
		}
	}
	expectStatus(t, p.postForm("/settings", url.Values{"theme": {"system"}}), http.StatusSeeOther)
	if strings.Contains(p.page("/"), "data-theme") {
		t.Error("the pages keep a theme")
	}
	expectStatus(t, p.postForm("/settings", url.Values{"theme": {`"><script>`}}), http.StatusBadRequest)
	if page := readText(t, p.request("GET", "/", "", "Cookie", `beam_theme="x`)); strings.Contains(page, "data-theme") {
		t.Error("the theme of a cookie isn't checked")
	}
}
