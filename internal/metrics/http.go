package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is the number of scrapes that are served at once. Others get status
// 503.
const maxScrapes = 4

// Handler returns a handler that serves the metrics in the format that the request
// accepts. It omits a metric that can't be collected. It must be called only once.
func (m *Metrics) Handler() http.Handler {
	// The process collectors are registered by the first scrape: they have a cost.
	handler := sync.OnceValue(func() http.Handler {
		m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
			ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, DisableCompression: true,
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}
