package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/store"
)

// listPaths are the pages with lists, and those whose sidebar has some.
var listPaths = []string{"/", "/runs", "/asks", "/find?q=run+77", "/photons/labelled", "/settings"}

// BenchmarkListPages measures pages of three servers in turns: one with no runs and no tools
// but its own; one whose lists fill one page; and one with 10,000 runs, half of which wait
// for an answer, and 1,000 tools of 20 servers. It reports the medians, and how many times as
// long the last takes.
func BenchmarkListPages(b *testing.B) {
	lists := []*browserSession{newListsSite(b, 0, 0), newListsSite(b, 100, 100), newListsSite(b, 10_000, 1_000)}
	for _, path := range listPaths {
		b.Run(path, func(b *testing.B) {
			took := make([][]time.Duration, len(lists))
			for b.Loop() {
				for i, p := range lists {
					begun := time.Now()
					p.page(path)
					took[i] = append(took[i], time.Since(begun))
				}
			}
			µs := func(all []time.Duration) float64 { return float64(median(all)) / float64(time.Microsecond) }
			empty, page, full := µs(took[0]), µs(took[1]), µs(took[2])
			b.ReportMetric(empty, "µs-empty")
			b.ReportMetric(page, "µs-page")
			b.ReportMetric(full, "µs-full")
			b.ReportMetric(full/page, "full/page")
			b.ReportMetric(full/empty, "full/empty")
		})
	}
}

// What a list doesn't show takes no work: with many times as many runs, questions and tools,
// a page allocates at most 1.2 times as often.
func TestLongListsTakeNoMoreWork(t *testing.T) {
	many := 2_000
	if testing.Short() {
		many = 600
	}
	page, full := newListsSite(t, 100, 100), newListsSite(t, many, many)
	for _, path := range listPaths {
		if strings.HasPrefix(path, "/find") {
			continue // it searches all
		}
		one := testing.AllocsPerRun(10, func() { page.page(path) })
		if all := testing.AllocsPerRun(10, func() { full.page(path) }); all > 1.2*one {
			t.Errorf("%s: %.0f allocations, want at most 1.2 times %.0f", path, all, one)
		}
	}
}

// newListsSite returns a session with so many runs, every second of which waits for an answer, and
// so many tools of other servers.
func newListsSite(t testing.TB, runs, tools int) *browserSession {
	photons := []*generators.Photon{labelled, generators.New("waiting", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "What is your name?")
	}, nil)}
	for i := range tools {
		photons = append(photons, toolOf(fmt.Sprintf("server%d", i%20), i))
	}
	p := newSiteOn(t, newDurableLog(t, store.SyncInterval), "", photons...).newSession()
	for i := range runs / 2 {
		p.startRun("waiting", "{}")
		p.startRun("labelled", fmt.Sprintf(`{"label":"run %d"}`, i))
	}
	return p
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
