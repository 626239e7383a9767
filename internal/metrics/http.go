package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes are served at once; others are refused with
// 503.
const maxScrapes = 4

// Handler serves the metrics in the formats that Prometheus asks for. A metric
// that can't be had is left out.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, DisableCompression: true,
	})
}
