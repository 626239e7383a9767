package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/generators"
)

// BenchmarkListPages measures pages of a server with no runs and one photon, of one whose
// lists fill one page, and of one with 10,000 runs and 1,000 tools, of which 20 servers have
// 50 each. The last takes at most 1.2 times as long as the one with a page.
func BenchmarkListPages(b *testing.B) {
	for _, tt := range []struct {
		name        string
		runs, tools int
	}{{"empty", 0, 0}, {"page", 50, 100}, {"full", 10_000, 1_000}} {
		photons := []*generators.Photon{labelled}
		for i := range tt.tools {
			photons = append(photons, toolOf(fmt.Sprintf("server%d", i%20), i))
		}
		p := newSite(b, "", photons...).newSession()
		for i := range tt.runs {
			p.startRun("labelled", fmt.Sprintf(`{"label":"run %d"}`, i))
		}
		for _, page := range []string{"/runs", "/asks", "/photons/labelled", "/settings", "/"} {
			b.Run(tt.name+page, func(b *testing.B) {
				p.page(page)
				for b.Loop() {
					p.page(page)
				}
			})
		}
		b.Run(tt.name+"/find", func(b *testing.B) {
			for b.Loop() {
				p.page("/find?q=run+77")
			}
		})
	}
}

// toolOf returns a tool of another server.
func toolOf(server string, n int) *generators.Photon {
	input, err := generators.ParseSchema([]byte(`{"type":"object"}`))
	if err != nil {
		panic(err)
	}
	name := fmt.Sprintf("%s__tool%d", server, n)
	return generators.FromSchema(name, input, nil, func(context.Context, json.RawMessage, generators.Yield) (json.RawMessage, error) { return nil, nil },
		&generators.Options{Group: server, Definition: []byte(`{"name":"` + name + `","inputSchema":{"type":"object"}}`), Description: "A tool of another server."})
}
