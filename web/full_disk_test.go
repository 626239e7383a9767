package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

// fullLog is a log on a full disk.
type fullLog struct{ runlog.Log }

func (fullLog) Append(context.Context, string, uint64, ...runlog.Entry) (uint64, error) {
	return 0, fullLog{}.Err()
}

func (fullLog) Err() error { return fmt.Errorf("%w: /data has 9 KB left", runlog.ErrDiskFull) }

// TestAFullDiskSaysHowMuchIsLeftFree checks that the error explains why a disk with free
// space counts as full, and what to do.
func TestAFullDiskSaysHowMuchIsLeftFree(t *testing.T) {
	registry, err := registry.NewRegistry(generators.New("none", func(context.Context, struct{}, generators.Yield) (string, error) { return "", nil }, nil))
	if err != nil {
		t.Fatal(err)
	}
	engine := engine.New(engine.Options{Photons: registry, Log: fullLog{runlog.NewMemory()}})
	server, err := web.New(web.Config{Engine: engine, Photons: registry, Keys: identity.NewKeys(), Ready: fullLog{}.Err})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(server), t: t, web: server, engine: engine}
	t.Cleanup(s.Server.Close)
	p := s.newSession()
	for what, res := range map[string]*http.Response{"a start": p.requestJSON("POST", "/photons/none/runs", "{}"), "readiness": p.requestJSON("GET", "/readyz", "")} {
		expectStatus(t, res, http.StatusServiceUnavailable)
		said := readText(t, res)
		for _, want := range []string{"The disk is full", "16 MiB free", "Free some space", "continues by itself"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %s, want %q", what, said, want)
			}
		}
		if strings.Contains(said, "/data") {
			t.Errorf("%s reveals where the data is: %s", what, said)
		}
	}
}
