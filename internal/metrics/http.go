package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is the number of scrapes that are served at once. Others get status
// 503.
const maxScrapes = 4

// Handler returns a handler that serves the metrics, and those of the process, in the
// format that the request accepts. It omits a metric that can't be collected.
func (m *Metrics) Handler() http.Handler {
	// The process collectors are made by the first scrape: they have a cost.
	handler := sync.OnceValue(func() http.Handler {
		process := prometheus.NewRegistry()
		process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		return promhttp.HandlerFor(prometheus.Gatherers{m.registry, process}, promhttp.HandlerOpts{
			ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, DisableCompression: true,
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}
