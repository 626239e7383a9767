package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes are served at once; others are refused with
// 503.
const maxScrapes = 4

// Handler serves the metrics in the formats that Prometheus asks for. A metric
// that can't be had is left out. Call it once.
func (m *Metrics) Handler() http.Handler {
	// Only a Beam that is scraped pays for what looks into the process.
	handler := sync.OnceValue(func() http.Handler {
		m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
			ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, DisableCompression: true,
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}
