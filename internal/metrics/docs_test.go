package metrics_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/upstream"
)

var (
	metricName   = regexp.MustCompile(`\bbeam_[a-z_]*[a-z]\b`)
	described    = regexp.MustCompile(`fqName: "(beam_[a-z_]+)"`)
	ofHistograms = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// The documentation lists all metrics, and its alerts name only those.
func TestMetricsAreDocumented(t *testing.T) {
	photons, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	m := metrics.New("test")
	m.RegisterEngine(engine.New(engine.Options{Photons: photons, Log: runlog.NewMemory(), Replica: struct{ sharing.Replica }{}}))
	m.RegisterBudgets(budget.New(budget.Streams, budget.DefaultStreams))
	m.RegisterUpstreams(func() []upstream.Status { return nil })
	m.RegisterAudit(func() int64 { return 0 })
	m.RegisterStore(func() bool { return true })
	m.RegisterSignIn(func() (wrong, refused int64) { return 0, 0 })
	m.SetConnections(1, func() int { return 0 })
	descs := make(chan *prometheus.Desc)
	go func() { m.Describe(descs); close(descs) }()
	known := make(map[string]bool)
	for d := range descs {
		if found := described.FindStringSubmatch(d.String()); found != nil {
			known[found[1]] = false
		}
	}
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, name := range metricName.FindAllString(section, -1) {
		if _, ok := known[name]; !ok {
			name = ofHistograms.ReplaceAllString(name, "")
		}
		if _, ok := known[name]; !ok {
			t.Errorf("there is no metric %s", name)
		}
		known[name] = true
	}
	for name, listed := range known {
		if !listed {
			t.Errorf("the documentation doesn't list %s", name)
		}
	}
}
