package beam_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A server with its own sign-in serves Beam below /tools. One of the tools is for
// operators only, and says who answered its question.
func ExampleNew() {
	restart := generators.New("restart", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		var by beam.Caller
		ok, err := ask.Confirm(yield, "go", "Restart the server?", ask.Destructive(), ask.AnsweredBy(&by))
		if err != nil || !ok {
			return "", err
		}
		return "restarted by " + by.Name, nil
	}, &generators.Options{Allow: func(c beam.Caller) error {
		if !c.HasRole(generators.RoleOperator) {
			return errors.New("for operators only")
		}
		return nil
	}})
	identify := func(r *http.Request) (beam.Caller, error) {
		switch name, password, _ := r.BasicAuth(); {
		case name == "ada" && password == "engine":
			return beam.Caller{ID: "person:1", Name: "Ada", Roles: []string{generators.RoleOperator}}, nil
		case name == "alan" && password == "machine":
			return beam.Caller{ID: "person:2", Name: "Alan"}, nil
		case name == "mallory":
			return beam.Caller{}, beam.ErrForbidden
		}
		return beam.Caller{}, errors.New("not signed in")
	}
	b, err := beam.New(beam.Config{Photons: []*generators.Photon{restart}, URL: "/tools", Identify: identify})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/tools/", b)
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, person := range []string{"ada:engine", "alan:machine", "mallory:", "eve:"} {
		r, err := http.NewRequest("GET", server.URL+"/tools/photons/restart", nil)
		if err != nil {
			log.Fatal(err)
		}
		name, password, _ := strings.Cut(person, ":")
		r.SetBasicAuth(name, password)
		r.Header.Set("Accept", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		res.Body.Close()
		fmt.Println(name, res.StatusCode)
	}
	// Output:
	// ada 200
	// alan 404
	// mallory 403
	// eve 401
}

// A Beam that keeps its runs, for everyone who has a token.
func ExampleConfig() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	b, err := beam.New(beam.Config{
		URL:        "https://tools.example/beam",
		Hosts:      []string{"tools.internal"},
		Token:      "correct horse battery staple",
		Data:       dir,
		SyncAlways: true,
		Root:       os.TempDir(),
		Limits: beam.Limits{
			EvictAfter: time.Minute, MaxResident: 50, ReplayAlways: false,
			KeepFor: 30 * 24 * time.Hour, KeepEach: 100, KeepAll: 5000, KeepBytes: 10 << 30,
			Working: beam.Budget{Each: 20, All: 500}, Streams: beam.Budget{Each: 100},
			Uploads: beam.Budget{Each: 4, All: 20}, Disk: beam.Budget{Each: 1 << 30, All: 50 << 30},
		},
		Asks:           beam.AskPolicy{Handoff: 20 * time.Second},
		TracerProvider: noop.NewTracerProvider(),
	})
	if err != nil {
		log.Fatal(err)
	}
	address, _, _ := strings.Cut(b.SignInURL(), "=")
	fmt.Println(address)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(b.Shutdown(ctx))
	// Output:
	// https://tools.example/beam/login?code
	// <nil>
}

// A middleware of the server's own sees each request to Beam.
func ExampleBeam_ServeHTTP() {
	b, err := beam.New(beam.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Shutdown(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		b.ServeHTTP(w, r)
	}))
	defer server.Close()
	res, err := http.Get(server.URL + "/healthz")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.StatusCode)
	// Output:
	// GET /healthz
	// 200
}
