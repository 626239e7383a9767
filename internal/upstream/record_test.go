package upstream_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// What a call tells meanwhile is recorded as its result is.
func TestRecordOfProgressAndLogs(t *testing.T) {
	for record, want := range map[config.Record]struct{ progress, logs int }{
		config.RecordAll: {3, 1}, config.RecordMetadata: {3, 1}, config.RecordNothing: {0, 0},
	} {
		server := child(t, "up", "")
		server.Record = record
		g := newGateway(t, server)
		count := g.start(ada, "up__count", `{"n":3}`)
		if n := g.countEntries(count, "progress"); n != want.progress {
			t.Errorf("%s: %d entries of progress", record, n)
		}
		log := g.start(ada, "up__log", "{}") // alone, since a log message doesn't say whose it is
		if n := g.countEntries(log, "log"); n != want.logs {
			t.Errorf("%s: %d logs", record, n)
		}
		if text := g.recorded(log); strings.Contains(text, `"n":1`) != (record == config.RecordAll) {
			t.Errorf("%s: recorded is %s", record, text)
		}
	}
}

// recorded returns a run's log once it has ended.
func (g *gateway) recorded(id string) string {
	g.t.Helper()
	g.awaitEnd(ada, id)
	var b strings.Builder
	for _, e := range g.entries(id) {
		b.WriteString(string(e.Kind) + " " + string(e.Data) + "\n")
	}
	return b.String()
}

func (g *gateway) countEntries(id, kind string) (n int) {
	g.t.Helper()
	g.awaitEnd(ada, id)
	for _, e := range g.entries(id) {
		if strings.Contains(string(e.Kind), kind) {
			n++
		}
	}
	return n
}

func (g *gateway) entries(id string) (all []runlog.Entry) {
	g.t.Helper()
	batches, err := g.Read(g.t.Context(), ada, id, 0)
	if err != nil {
		g.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			g.t.Fatal(err)
		}
		all = append(all, batch...)
	}
	return all
}
