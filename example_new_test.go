package beam_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

// Beam beside a program's own handlers, behind its own sign-in. Ada may see the photon,
// and a stranger is refused.
func ExampleNew() {
	hello := generators.New("hello", func(context.Context, struct{}, generators.Yield) (string, error) { return "Hello!", nil }, nil)
	data, err := os.MkdirTemp("", "beam")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(data)
	b, err := beam.New(beam.Config{
		Photons: []*generators.Photon{hello},
		URL:     "https://tools.example/beam",
		Hosts:   []string{"tools.internal"},
		Identify: func(r *http.Request) (beam.Caller, error) {
			name, password, _ := r.BasicAuth()
			if name != "ada" || password != "countess" {
				return beam.Caller{}, fmt.Errorf("%q may not use the tools: %w", name, beam.ErrForbidden)
			}
			return beam.Caller{ID: "ada", Name: "Ada", Roles: []string{generators.RoleOperator}}, nil
		},
		Data:           data,
		SyncAlways:     true,
		AcceptLoss:     false,
		Root:           data,
		Limits:         beam.Limits{EvictAfter: time.Minute, MaxResident: 1000, KeepFor: 24 * time.Hour, KeepEach: 100, KeepAll: 10_000, KeepBytes: 1 << 30},
		Asks:           beam.AskPolicy{Handoff: time.Second},
		TracerProvider: noop.NewTracerProvider(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())

	for _, name := range []string{"ada", "bob"} {
		r := httptest.NewRequest("GET", "https://tools.example/beam/photons/hello", nil)
		r.SetBasicAuth(name, "countess")
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		fmt.Println(name, w.Code)
	}
	// Output:
	// ada 200
	// bob 403
}

// Without a sign-in of the program's own, a token keeps strangers out, and an address
// signs in the person at the machine.
func ExampleBeam_SignInURL() {
	b, err := beam.New(beam.Config{URL: "https://tools.example/beam", Token: "correct horse"})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())
	address, _, _ := strings.Cut(b.SignInURL(), "?")
	fmt.Println(address)
	// Output:
	// https://tools.example/beam/login
}
