package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/internal/engine"
)

// replicaCollector collects the gauges of the replicas that share the store.
type replicaCollector struct {
	engine *engine.Engine
	labels *labelNames
}

var (
	replicasDesc    = newDesc("replicas", "Replicas that share the store, as this one sees them, by state (alive or gone).", "state")
	leaseAgeDesc    = newDesc("replica_lease_age_seconds", "How long ago this replica renewed its lease.")
	heldDesc        = newDesc("runs_held", "Unfinished runs that this replica holds.")
	unclaimableDesc = newDesc("runs_unclaimable", "Unfinished runs that no replica goes on with, by photon.", "photon")
)

// Describe implements [prometheus.Collector].
func (c *replicaCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{replicasDesc, leaseAgeDesc, heldDesc, unclaimableDesc} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. If the database doesn't answer, it omits the numbers of
// runs.
func (c *replicaCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	status, err := c.engine.Replicas(context.Background())
	states, held := map[string]int{"alive": 0, "gone": 0}, 0
	for _, r := range status.Replicas {
		if r.Gone {
			states["gone"]++
		} else {
			states["alive"]++
		}
		if r.Self {
			held = r.Held
		}
	}
	for state, n := range states {
		gauge(replicasDesc, float64(n), state)
	}
	gauge(leaseAgeDesc, status.LeaseAge.Seconds())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(heldDesc, err)
		return
	}
	gauge(heldDesc, float64(held))
	unclaimable := make(map[string]int)
	for _, u := range status.Unclaimable {
		unclaimable[c.labels.label(u.Photon)] += u.Runs
	}
	for photon, n := range unclaimable {
		gauge(unclaimableDesc, float64(n), photon)
	}
}

// RegisterStore adds whether the store accepts what is recorded. It must be called only once.
func (m *Metrics) RegisterStore(isUp func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "store_up", Help: "1 if runs can be recorded, as far as is known, else 0.",
	}, func() float64 {
		if isUp() {
			return 1
		}
		return 0
	}))
}
