package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

var me = generators.Caller{ID: "session:me"}

type none = struct{}

// greeterPhoton asks twice.
var greeterPhoton = generators.New("greeter", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
	name, err := ask.Text(yield, "name", "Your name?")
	if err != nil {
		return "", err
	}
	sure, err := ask.Confirm(yield, "sure", "Sure?")
	return fmt.Sprint(name, sure), err
}, &generators.Options{Durable: true})

// patientPhoton asks a question that expires after a minute.
var patientPhoton = generators.New("patient", func(_ context.Context, _ none, yield generators.Yield) (bool, error) {
	return ask.Confirm(yield, "go", "Go on?", ask.Timeout(time.Minute))
}, nil)

// testMetrics is an engine with metrics.
type testMetrics struct {
	*engine.Engine
	*metrics.Metrics
	t      testing.TB
	served http.Handler
}

func openTestMetrics(t *testing.T, l runlog.Log, dir string) *testMetrics {
	t.Helper()
	registry, err := registry.NewRegistry(greeterPhoton, patientPhoton)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &testMetrics{Metrics: metrics.New("test"), t: t}
	b.Engine = engine.New(engine.Options{Photons: registry, Log: l, Blobs: blobs, Meter: b.Metrics})
	b.RegisterEngine(b.Engine)
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.closeAll(); blobs.Close() })
	return b
}

func (b *testMetrics) closeAll() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Engine.Close(ctx); err != nil {
		b.t.Error(err)
	}
}

// RegisterEngine hides the engine's.
func (b *testMetrics) RegisterEngine(e *engine.Engine) { b.Metrics.RegisterEngine(e) }

func (b *testMetrics) startRun(photon, surface string) string {
	b.t.Helper()
	info, err := b.Start(b.t.Context(), me, engine.StartRequest{Photon: photon, Surface: surface})
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// answerRun settles the open question of a run.
func (b *testMetrics) answerRun(id string, action askdata.Action, content, surface string) {
	b.t.Helper()
	synctest.Wait()
	info, err := b.Info(me, id)
	if err != nil || len(info.Asks) != 1 {
		b.t.Fatalf("run %s has %d questions: %v", id, len(info.Asks), err)
	}
	a := askdata.Answer{Action: action}
	if content != "" {
		a.Content = json.RawMessage(content)
	}
	if err := b.Answer(b.t.Context(), me, info.Asks[0].ID, a, surface); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

// scrape returns the metrics that a Prometheus server gets.
func (b *testMetrics) scrape() map[string]*dto.MetricFamily {
	b.t.Helper()
	if b.served == nil {
		b.served = b.Handler()
	}
	w := httptest.NewRecorder()
	b.served.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil || w.Code != 200 {
		b.t.Fatalf("%d: %v", w.Code, err)
	}
	return families
}

// metricValue returns the value of the metric with the given label values, in the
// order of their names; for a histogram, its count. It returns -1 if there is none.
func metricValue(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range families[name].GetMetric() {
		var got []string
		for _, l := range m.GetLabel() {
			got = append(got, l.GetValue())
		}
		if strings.Join(got, " ") == strings.Join(labels, " ") {
			switch {
			case m.Counter != nil:
				return m.Counter.GetValue()
			case m.Histogram != nil:
				return float64(m.Histogram.GetSampleCount())
			}
			return m.Gauge.GetValue()
		}
	}
	return -1
}

func (b *testMetrics) want(want float64, name string, labels ...string) {
	b.t.Helper()
	if got := metricValue(b.scrape(), name, labels...); got != want {
		b.t.Errorf("%s%q is %v, not %v", name, labels, got, want)
	}
}

func TestWhatRunsDoIsCounted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := openTestMetrics(t, runlog.NewMemory(), dir)
		first, second, third := b.startRun("greeter", "browser"), b.startRun("greeter", "mcp"), b.startRun("greeter", "a made-up surface")
		b.startRun("patient", "http")
		synctest.Wait()
		b.want(4, "beam_runs", "waiting")
		b.want(4, "beam_asks_open", "0-1m")
		b.want(1, "beam_runs_started_total", "greeter", "browser")
		time.Sleep(2 * time.Hour) // the patient one goes on without an answer
		b.want(3, "beam_asks_open", "1h-1d")
		b.want(0, "beam_asks_open", "0-1m")
		b.want(7200, "beam_asks_oldest_age_seconds")
		b.want(1, "beam_asks_withdrawn_total", "expired")
		b.want(1, "beam_runs_finished_total", "patient", "unanswered")
		b.want(1, "beam_runs_unanswered_total", "expired")
		b.want(0, "beam_runs_unanswered_total", "declined")

		b.answerRun(first, askdata.Accept, `{"name":"Ada"}`, "browser")
		b.answerRun(first, askdata.Accept, `{"sure":true}`, "mcp")
		b.answerRun(second, askdata.Decline, "", "terminal")
		if err := b.Cancel(t.Context(), me, third, "browser"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.want(1, "beam_answers_total", "accept", "browser")
		b.want(1, "beam_answers_total", "accept", "mcp")
		b.want(1, "beam_answers_total", "decline", "terminal")
		b.want(1, "beam_asks_withdrawn_total", "run_ended")
		b.want(5, "beam_ask_open_seconds")
		b.want(3, "beam_asks_total", "text")
		b.want(2, "beam_asks_total", "confirm")
		b.want(0, "beam_runs", "waiting")
		b.want(1, "beam_runs", "completed")
		b.want(1, "beam_runs", "stopped")
		b.want(2, "beam_runs", "unanswered")
		b.want(1, "beam_runs_unanswered_total", "declined")
		b.want(1, "beam_runs_started_total", "greeter", "other")
		b.want(0, "beam_asks_oldest_age_seconds")
	})
}

// After a restart, gauges are correct, counters begin at zero, and resumed runs count
// as replays.
func TestARestartCountsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := runlog.NewMemory()
		b := openTestMetrics(t, l, dir)
		id := b.startRun("greeter", "browser")
		b.startRun("patient", "browser")
		b.answerRun(id, askdata.Accept, `{"name":"Ada"}`, "browser")
		b.want(1, "beam_runs_resident") // the other is not durable
		time.Sleep(3 * time.Hour)
		b.want(0, "beam_runs_resident")
		b.closeAll()

		b = openTestMetrics(t, l, dir)
		b.want(1, "beam_runs", "waiting")
		b.want(1, "beam_asks_open", "1h-1d")
		b.want(10800, "beam_asks_oldest_age_seconds")
		b.want(-1, "beam_runs_started_total", "greeter", "browser")
		b.want(0, "beam_replay_seconds", "complete")
		b.answerRun(id, askdata.Accept, `{"sure":true}`, "browser")
		b.want(1, "beam_replay_seconds", "complete")
		b.want(0, "beam_replay_seconds", "incomplete")
		b.want(1, "beam_runs", "completed")
		b.want(0, "beam_runs", "waiting")
	})
}

func TestFollowersAreCountedWhileTheyFollow(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := openTestMetrics(t, runlog.NewMemory(), dir)
		id := b.startRun("greeter", "browser")
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		for range 3 {
			batches, err := b.Follow(ctx, me, id, 0)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for range batches {
				}
			}()
		}
		wait := func() {
			if _, err := b.AddWaiter(me, id, 1000, idleWaiter{}); err != nil {
				t.Fatal(err)
			}
		}
		wait()
		synctest.Wait()
		b.want(4, "beam_followers")
		leave()
		synctest.Wait()
		b.want(1, "beam_followers")
		b.RemoveWaiter(id, idleWaiter{})
		b.want(0, "beam_followers")
		wait()
		b.want(1, "beam_followers")
		b.answerRun(id, askdata.Cancel, "", "browser")
		b.want(0, "beam_followers")
	})
}

// The number of label values is limited, however many photons there are.
func TestPhotonsHaveABoundedNumberOfLabels(t *testing.T) {
	m := metrics.New("test")
	for i := range 1000 {
		m.RunStarted(fmt.Sprintf("photon-%d", i), "mcp")
		m.RunFinished(fmt.Sprintf("photon-%d", i), runlog.Finished{Status: runlog.Completed})
	}
	b := &testMetrics{Metrics: m, t: t}
	families := b.scrape()
	if n := len(families["beam_runs_started_total"].GetMetric()); n != 201 {
		t.Errorf("there are %d", n)
	}
	b.want(800, "beam_runs_started_total", "other", "mcp")
	b.want(1, "beam_runs_finished_total", "photon-199", "completed")
}

// countUpstreams counts calls and questions of 300 upstreams, of which one is up.
func countUpstreams(b *testMetrics) {
	var all []upstream.Status
	for i := range 300 {
		name := fmt.Sprintf("up-%d", i)
		s := upstream.Status{Name: name, State: upstream.Waiting, Tools: []policy.ToolStatus{{Decision: policy.Held}, {Decision: policy.Offered}, {Decision: policy.Offered}}}
		if i == 0 {
			s.State = upstream.Connected
		}
		all = append(all, s)
		b.UpstreamCall(name, policy.CallCompleted, time.Second)
		b.UpstreamCall(name, policy.CallRefused, 0)
		b.UpstreamAsk(name, policy.AskSensitive)
	}
	b.RegisterUpstreams(func() []upstream.Status { return all })
}

func TestUpstreamsAreCounted(t *testing.T) {
	b := &testMetrics{Metrics: metrics.New("test"), t: t}
	countUpstreams(b)
	b.want(1, "beam_upstream_connected", "up-0")
	b.want(0, "beam_upstream_connected", "up-1")
	b.want(0, "beam_upstream_connected", "other")
	b.want(2, "beam_upstream_tools", "offered", "up-1")
	b.want(1, "beam_upstream_tools", "held", "up-1")
	b.want(1, "beam_upstream_calls_total", "completed", "up-1")
	b.want(100, "beam_upstream_calls_total", "refused", "other")
	b.want(1, "beam_upstream_asks_total", "sensitive", "up-1")
	b.want(300, "beam_upstream_call_seconds")
}

func TestFailedAppendsAreCountedByTheirReason(t *testing.T) {
	b := &testMetrics{Metrics: metrics.New("test"), t: t}
	for _, reason := range []string{"full", "conflict", "cancelled", "uncertain", "other"} {
		b.want(0, "beam_log_append_errors_total", reason) // a rate needs the zero before the first
	}
	b.EntriesAppended(1, time.Millisecond, fmt.Errorf("appending: %w", runlog.ErrDiskFull))
	b.EntriesAppended(1, time.Millisecond, &runlog.ConflictError{})
	b.EntriesAppended(1, time.Millisecond, fmt.Errorf("appending: %w", context.Canceled))
	b.EntriesAppended(1, time.Millisecond, fmt.Errorf("%w: broken", runlog.ErrUncertain))
	b.EntriesAppended(1, time.Millisecond, errors.New("broken"))
	b.EntriesAppended(5, time.Millisecond, nil)
	for _, reason := range []string{"full", "conflict", "cancelled", "uncertain", "other"} {
		b.want(1, "beam_log_append_errors_total", reason)
	}
	b.want(1, "beam_log_append_seconds")
	b.want(5, "beam_log_entries_total")
}

func TestNamesAndHelpAreAsPrometheusWantsThem(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := openTestMetrics(t, runlog.NewMemory(), dir)
		b.answerRun(b.startRun("greeter", "mcp"), askdata.Decline, "", "http")
		b.startRun("patient", "mcp")
		countUpstreams(b)
		time.Sleep(time.Hour)
		var ours []*dto.MetricFamily
		for name, f := range b.scrape() {
			if strings.HasPrefix(name, "beam_") {
				ours = append(ours, f)
			}
		}
		problems, err := promlint.NewWithMetricFamilies(ours).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
		if len(ours) != 24 {
			t.Errorf("there are %d", len(ours))
		}
	})
}

// idleWaiter is a waiter that does nothing.
type idleWaiter struct{}

func (idleWaiter) Wake() {}
