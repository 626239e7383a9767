package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web"
)

// full is a log on a full disk.
type full struct{ log.Log }

func (full) Append(context.Context, string, uint64, ...log.Entry) (uint64, error) {
	return 0, full{}.Err()
}

func (full) Err() error { return fmt.Errorf("%w: /data has 9 KB left", log.ErrFull) }

// Who looks at the disk finds room on it: the words say why that is none, and
// what to do.
func TestAFullDiskSaysHowMuchIsLeftFree(t *testing.T) {
	registry, err := generators.NewRegistry(generators.New("none", func(context.Context, struct{}, generators.Yield) (string, error) { return "", nil }, nil))
	if err != nil {
		t.Fatal(err)
	}
	engine := run.New(run.Options{Photons: registry, Log: full{log.NewMemory()}})
	server, err := web.New(web.Config{Engine: engine, Photons: registry, Keys: web.NewKeys(), Ready: full{}.Err})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(server), t: t, web: server, engine: engine}
	t.Cleanup(s.Server.Close)
	p := s.person()
	for what, res := range map[string]*http.Response{"a start": p.json("POST", "/photons/none/runs", "{}"), "readiness": p.json("GET", "/readyz", "")} {
		status(t, res, http.StatusServiceUnavailable)
		said := text(t, res)
		for _, want := range []string{"The disk is full", "16 MiB free", "Make room", "goes on by itself"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %s, want %q", what, said, want)
			}
		}
		if strings.Contains(said, "/data") {
			t.Errorf("%s tells where the data is: %s", what, said)
		}
	}
}
