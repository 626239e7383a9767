package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web"
)

// metered is a playground with metrics, which may need a token.
func metered(t *testing.T, token string) *person {
	t.Helper()
	registry, err := generators.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	engine := run.New(run.Options{Photons: registry})
	m := metrics.New("test")
	m.Watch(engine)
	server, err := web.New(web.Config{Engine: engine, Photons: registry, Keys: web.NewKeys(), Token: token, Hosts: []string{"beam.test"}, Metrics: m.Handler()})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(server), t: t, web: server, engine: engine}
	t.Cleanup(s.Server.Close)
	return s.person()
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
			p := metered(t, tt.token)
			res := p.do("GET", "/metrics", "", tt.headers...)
			status(t, res, tt.want)
			if got := strings.Contains(text(t, res), "beam_runs{"); got != (tt.want == http.StatusOK) {
				t.Errorf("metrics are told: %v", got)
			}
			if res.Header.Get("Set-Cookie") != "" {
				t.Error("a scrape began a session")
			}
		})
	}
	t.Run("another method", func(t *testing.T) { status(t, metered(t, "").do("POST", "/metrics", ""), http.StatusMethodNotAllowed) })
}
