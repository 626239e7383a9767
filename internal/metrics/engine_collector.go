package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/internal/engine"
)

// engineCollector collects the gauges of an engine.
type engineCollector struct{ engine *engine.Engine }

var _ prometheus.Collector = (*engineCollector)(nil)

// The bounds of the ages by which open questions are counted, and their labels.
var (
	ageBounds = []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}
	ageLabels = []string{"0-1m", "1m-1h", "1h-1d", "1d-7d", "7d+"}
)

var (
	runsDesc         = newDesc("runs", "Runs, by state, including finished runs that are retained.", "state")
	unanswerableDesc = newDesc("asks_unanswerable", "Open questions that nobody who can sign in may answer.")
	residentDesc     = newDesc("runs_resident", "Durable runs that wait for an answer and are held in memory; other waiting runs are evicted.")
	openAsksDesc     = newDesc("asks_open", "Open questions, by age.", "age")
	oldestAskDesc    = newDesc("asks_oldest_age_seconds", "Age of the oldest open question; 0 if none is open.")
	followersDesc    = newDesc("followers", "Streams, pages and calls that follow a run.")
)

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (c *engineCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runsDesc, residentDesc, unanswerableDesc, openAsksDesc, oldestAskDesc, followersDesc} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *engineCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counts, err := c.engine.Counts()
	unanswerable, countErr := c.engine.CountUnanswerable()
	open, oldest, ageErr := c.engine.CountOpenAsksByAge(ageBounds...)
	if err := errors.Join(err, countErr, ageErr); err != nil {
		ch <- prometheus.NewInvalidMetric(runsDesc, err)
		return
	}
	for state, n := range counts.Runs {
		gauge(runsDesc, float64(n), string(state))
	}
	gauge(residentDesc, float64(counts.Resident))
	gauge(unanswerableDesc, float64(unanswerable))
	gauge(followersDesc, float64(counts.Followers))
	for i, n := range open {
		gauge(openAsksDesc, float64(n), ageLabels[i])
	}
	gauge(oldestAskDesc, oldest.Seconds())
}
