package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// newMetricsSite returns a playground with metrics and an optional token.
func newMetricsSite(t *testing.T, token string) *browserSession {
	t.Helper()
	registry, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	engine := engine.New(engine.Options{Photons: registry})
	m := metrics.New("test")
	m.RegisterEngine(engine)
	server, err := web.New(web.Config{Engine: engine, Photons: registry, Keys: identity.NewKeys(), Token: token, Hosts: []string{"beam.test"}, Metrics: m.Handler()})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(server), t: t, web: server, engine: engine}
	t.Cleanup(s.Server.Close)
	return s.newSession()
}

func TestWhoMayScrape(t *testing.T) {
	tests := []struct {
		name, token string
		headers     []string
		want        int
	}{
		{"a program on this machine", "", nil, http.StatusOK},
		{"through an allowed host", "", []string{"Host", "beam.test:3008"}, http.StatusOK},
		{"through a foreign host", "", []string{"Host", "evil.example"}, http.StatusForbidden},
		{"with a token where none is", "", []string{"Authorization", "Bearer guess"}, http.StatusUnauthorized},
		{"without the token", "secret", nil, http.StatusUnauthorized},
		{"with another token", "secret", []string{"Authorization", "Bearer guess"}, http.StatusUnauthorized},
		{"with the token", "secret", []string{"Authorization", "Bearer secret"}, http.StatusOK},
		{"with the token, through a foreign host", "secret", []string{"Authorization", "Bearer secret", "Host", "evil.example"}, http.StatusForbidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newMetricsSite(t, tt.token)
			res := p.request("GET", "/metrics", "", tt.headers...)
			expectStatus(t, res, tt.want)
			if got := strings.Contains(readText(t, res), "beam_runs{"); got != (tt.want == http.StatusOK) {
				t.Errorf("the metrics are %v", got)
			}
			if res.Header.Get("Set-Cookie") != "" {
				t.Error("a scrape began a session")
			}
		})
	}
	t.Run("another method", func(t *testing.T) {
		expectStatus(t, newMetricsSite(t, "").request("POST", "/metrics", ""), http.StatusMethodNotAllowed)
	})
}
