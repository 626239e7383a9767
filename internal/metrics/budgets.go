package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/internal/budget"
)

// budgetCollector collects the state of budgets.
type budgetCollector []*budget.Budget

var _ prometheus.Collector = budgetCollector(nil)

var (
	budgetUsedDesc    = newDesc("budget_used", "What is in use of what a budget allows to all owners.", "budget")
	budgetLimitDesc   = newDesc("budget_limit", "What a budget allows, to one owner (each) and to all.", "budget", "scope")
	budgetRefusedDesc = newDesc("budget_refused_total", "Requests that were refused because an owner (each), or all, had used up a budget.", "budget", "scope")
)

// RegisterBudgets adds the state of budgets. It must be called only once.
func (m *Metrics) RegisterBudgets(budgets ...*budget.Budget) {
	m.registry.MustRegister(budgetCollector(budgets))
}

// Describe implements [prometheus.Collector].
func (budgetCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{budgetUsedDesc, budgetLimitDesc, budgetRefusedDesc} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c budgetCollector) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, t prometheus.ValueType, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, t, float64(v), labels...)
	}
	for _, b := range c {
		u := b.Usage()
		send(budgetUsedDesc, prometheus.GaugeValue, u.Used, u.Name)
		send(budgetLimitDesc, prometheus.GaugeValue, u.Limit.Each, u.Name, scopeEach)
		send(budgetLimitDesc, prometheus.GaugeValue, u.Limit.All, u.Name, scopeAll)
		send(budgetRefusedDesc, prometheus.CounterValue, u.Refused.Each, u.Name, scopeEach)
		send(budgetRefusedDesc, prometheus.CounterValue, u.Refused.All, u.Name, scopeAll)
	}
}

// Values of the label scope.
const (
	scopeEach = "each"
	scopeAll  = "all"
)
