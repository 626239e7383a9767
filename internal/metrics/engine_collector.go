package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/internal/engine"
)

// engineCollector are what an engine has now.
type engineCollector struct{ engine *engine.Engine }

var _ prometheus.Collector = (*engineCollector)(nil)

// The ages by which open questions are counted, and what their labels are.
var (
	ageBounds = []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}
	ageLabels = []string{"0-1m", "1m-1h", "1h-1d", "1d-7d", "7d+"}
)

var (
	runsDesc      = newDesc("runs", "Runs that are kept, by state.", "state")
	residentDesc  = newDesc("runs_hot", "Durable runs that wait for an answer in memory; the others that wait take memory for their place in lists alone.")
	openAsksDesc  = newDesc("asks_open", "Questions that wait for an answer, by age.", "age")
	oldestAskDesc = newDesc("asks_oldest_age_seconds", "How long the oldest open question has waited; 0 if none is open.")
	followersDesc = newDesc("followers", "Who follows a run now: streams, pages and calls.")
)

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (c *engineCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runsDesc, residentDesc, openAsksDesc, oldestAskDesc, followersDesc} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *engineCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counts := c.engine.Counts()
	for state, n := range counts.Runs {
		gauge(runsDesc, float64(n), string(state))
	}
	gauge(residentDesc, float64(counts.Resident))
	gauge(followersDesc, float64(counts.Followers))
	open, oldest := c.engine.CountOpenAsksByAge(ageBounds...)
	for i, n := range open {
		gauge(openAsksDesc, float64(n), ageLabels[i])
	}
	gauge(oldestAskDesc, oldest.Seconds())
}
