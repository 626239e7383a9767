package metrics

import "github.com/prometheus/client_golang/prometheus"

// ConnectionRefused counts a connection that was refused because too many were open.
func (m *Metrics) ConnectionRefused() { m.connectionsRefused.Inc() }

// SetConnections adds how many connections are open, and how many may be. It must be called
// only once.
func (m *Metrics) SetConnections(limit int, open func() int) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value))
	}
	gauge("connections", "Connections that are open.", func() float64 { return float64(open()) })
	gauge("connections_limit", "Connections that may be open.", func() float64 { return float64(limit) })
}

// RegisterSignIn adds the counts of credentials that were wrong, and of those that were
// refused unseen. It must be called only once.
func (m *Metrics) RegisterSignIn(counts func() (wrong, refused int64)) {
	counter := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, value))
	}
	counter("sign_in_wrong_total", "Wrong tokens and sign-in codes that were presented.", func() float64 { wrong, _ := counts(); return float64(wrong) })
	counter("sign_in_refused_total", "Tokens and sign-in codes that were refused unseen, because too many wrong ones came before.", func() float64 { _, refused := counts(); return float64(refused) })
}
