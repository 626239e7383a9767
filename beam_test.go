package beam_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// greet asks for a name and shows what it was given.
var greet = generators.New("greet", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	name, err := ask.Text(yield, "name", "Who is there?")
	if err != nil {
		return "", err
	}
	yield(generators.File("letter.txt", "text/plain", []byte("Dear "+name)))
	return "Hello, " + name + "!", nil
}, &generators.Options{Title: "Greet", Durable: true})

// newBeam returns a Beam, which the test's end shuts down.
func newBeam(t testing.TB, c beam.Config) *beam.Beam {
	t.Helper()
	if c.Photons == nil {
		c.Photons = []*generators.Photon{greet}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	b, err := beam.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutDown(t, b) })
	return b
}

func shutDown(t testing.TB, b *beam.Beam) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), programtest.WaitTimeout)
	defer cancel()
	if err := b.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestABeamBesideAnotherHandler(t *testing.T) {
	b := newBeam(t, beam.Config{URL: "/tools"})
	mux := http.NewServeMux()
	mux.Handle("/tools/", b)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the program's own page") })
	p := newBrowser(t, serve(t, mux))
	if own := p.page("/"); own != "the program's own page" {
		t.Errorf("the other handler's page is %q", own)
	}
	run := p.start("/tools/photons/greet/runs")
	if !strings.HasPrefix(run.URL, "/tools/runs/") || !strings.HasPrefix(run.Events, run.URL+"/") {
		t.Errorf("the run is %+v", run)
	}
	openQuestion(p, run)
	if page := p.page(run.URL); !strings.Contains(page, "Who is there?") {
		t.Errorf("the run's page is %s", page)
	}
}

// Two Beams share neither runs nor sessions nor metrics, although browsers share cookies
// between ports.
func TestBeamsDoNotMeet(t *testing.T) {
	first, second := newBeam(t, beam.Config{URL: "/first"}), newBeam(t, beam.Config{URL: "/second"})
	mux := http.NewServeMux()
	mux.Handle("/first/", first)
	mux.Handle("/second/", second)
	p := newBrowser(t, serve(t, mux))
	run := p.start("/first/photons/greet/runs")
	p.start("/second/photons/greet/runs")
	openQuestion(p, run)
	if !strings.Contains(p.page(run.URL), "Who is there?") {
		t.Error("the second Beam took the first one's session")
	}
	if res, _ := p.do("GET", "/second/runs/"+run.ID, ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("the first Beam's run at the second: %s", res.Status)
	}
	for range 2 {
		p.start("/first/photons/greet/runs")
	}
	for b, want := range map[*beam.Beam]float64{first: 3, second: 1} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(b.Collector())
		if got := waitingRuns(t, registry); got != want {
			t.Errorf("%v runs wait, want %v", got, want)
		}
	}
	both := prometheus.NewRegistry()
	for i, b := range []*beam.Beam{first, second} {
		prometheus.WrapRegistererWith(prometheus.Labels{"beam": fmt.Sprint(i)}, both).MustRegister(b.Collector())
	}
	if _, err := both.Gather(); err != nil {
		t.Error(err)
	}
}

// waitingRuns returns the number of runs that wait for an answer, once none works.
func waitingRuns(t *testing.T, g prometheus.Gatherer) float64 {
	t.Helper()
	for {
		families, err := g.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]float64{}
		for _, f := range families {
			for _, m := range f.Metric {
				if f.GetName() == "beam_runs" {
					counts[m.Label[0].GetValue()] = m.Gauge.GetValue()
				}
			}
		}
		if counts["running"] == 0 {
			return counts["waiting"]
		}
		runtime.Gosched()
	}
}

func TestSpansGoToTheGivenProvider(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	b := newBeam(t, beam.Config{TracerProvider: provider})
	p := newBrowser(t, serve(t, b))
	run := p.start("/photons/greet/runs")
	answerText(p, run, "Ada")
	shutDown(t, b)
	spans := map[string]sdk.ReadOnlySpan{}
	for _, s := range recorder.Ended() {
		spans[s.Name()] = s
	}
	for _, name := range []string{"run greet", "ask text", "answer"} {
		if s := spans[name]; s == nil || s.Parent().SpanID() != spans["start greet"].SpanContext().SpanID() {
			t.Errorf("%q is %v", name, s)
		}
	}
}
