package web_test

import (
	"context"
	"encoding/json"
	"fmt"
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
