package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// upstreamCounters count what upstreams do.
type upstreamCounters struct {
	labels  labelNames
	calls   *counterFamily
	asks    *counterFamily
	seconds prometheus.Histogram
}

var _ policy.Meter = (*Metrics)(nil)

func newUpstreamCounters() *upstreamCounters {
	return &upstreamCounters{
		calls: newCounterFamily("upstream_calls_total", "Calls of tools of upstreams, by upstream and outcome.", "upstream", "outcome"),
		asks:  newCounterFamily("upstream_asks_total", "Requests of upstreams to ask somebody, by upstream and outcome.", "upstream", "outcome"),
		seconds: histogram("upstream_call_seconds", "Duration of calls of tools of upstreams, including the time that their questions were open.",
			0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600, 3600, 24*3600),
	}
}

func (c *upstreamCounters) register(r prometheus.Registerer) {
	r.MustRegister(c.calls, c.asks, c.seconds)
}

// UpstreamCall implements [policy.Meter].
func (m *Metrics) UpstreamCall(name string, outcome policy.CallOutcome, took time.Duration) {
	m.upstreams.calls.with(m.upstreams.labels.label(name), string(outcome)).Inc()
	if outcome != policy.CallRefused {
		m.upstreams.seconds.Observe(took.Seconds())
	}
}

// UpstreamAsk implements [policy.Meter].
func (m *Metrics) UpstreamAsk(name string, outcome policy.AskOutcome) {
	m.upstreams.asks.with(m.upstreams.labels.label(name), string(outcome)).Inc()
}

// RegisterUpstreams adds the gauges that are read from the upstreams. It must be called
// only once.
func (m *Metrics) RegisterUpstreams(status func() []upstream.Status) {
	m.registry.MustRegister(&upstreamCollector{status, m.upstreams})
}

// RegisterAudit adds a counter of what could not be written to the audit file. It must be
// called only once.
func (m *Metrics) RegisterAudit(failures func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "beam_audit_failures_total", Help: "Records that could not be written to the audit file.",
	}, func() float64 { return float64(failures()) }))
}

// upstreamCollector collects the gauges of upstreams.
type upstreamCollector struct {
	status   func() []upstream.Status
	counters *upstreamCounters
}

var (
	connectedDesc = newDesc("upstream_connected", "1 if Beam is connected to the upstream, else 0.", "upstream")
	toolsDesc     = newDesc("upstream_tools", "Tools of the upstream, by what Beam does with them.", "upstream", "decision")
)

// Describe implements [prometheus.Collector].
func (c *upstreamCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- connectedDesc
	ch <- toolsDesc
}

// Collect implements [prometheus.Collector].
func (c *upstreamCollector) Collect(ch chan<- prometheus.Metric) {
	told := make(map[string]bool)
	for _, s := range c.status() {
		label := c.counters.labels.label(s.Name)
		if told[label] {
			continue // more upstreams than labels
		}
		told[label] = true
		connected := 0.0
		if s.State == upstream.Connected {
			connected = 1
		}
		ch <- prometheus.MustNewConstMetric(connectedDesc, prometheus.GaugeValue, connected, label)
		for _, d := range []policy.Decision{policy.Offered, policy.Held, policy.Denied, policy.Skipped} {
			ch <- prometheus.MustNewConstMetric(toolsDesc, prometheus.GaugeValue, float64(s.Count(d)), label, string(d))
		}
	}
}
