package upstream_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/testserver"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// run runs a photon that asks nothing, and returns its result or error.
func (g *gateway) run(who generators.Caller, photon, args string) string {
	g.t.Helper()
	end := g.awaitEnd(who, g.start(who, photon, args))
	return string(end.Result) + end.Error
}

// eventually waits until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	if !programtest.Poll(f) {
		t.Fatalf("%s doesn't happen", what)
	}
}

// testServer serves package testserver over HTTP.
func testServer(t *testing.T, name, version string) config.Server {
	return testServerWith(t, name, testserver.Options{Protocol: version})
}

func testServerWith(t *testing.T, name string, o testserver.Options) config.Server {
	s, err := testserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return config.Server{Target: client.Target{Name: name, Type: config.HTTP, URL: server.URL}}
}

func (g *gateway) awaitWithdrawn(who generators.Caller, id string) runlog.Withdrawn {
	g.t.Helper()
	w, err := runlog.Decode[runlog.Withdrawn](g.await(who, id, runlog.KindWithdrawn))
	if err != nil {
		g.t.Fatal(err)
	}
	return w
}

// startUntilTold starts a tool that asks, and goes on once it is told.
func (g *gateway) startUntilTold(who generators.Caller, photon string) (id string, tell func()) {
	g.t.Helper()
	file := filepath.Join(g.t.TempDir(), "told")
	return g.start(who, photon, fmt.Sprintf(`{"after":%q}`, file)), func() {
		g.t.Helper()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			g.t.Fatal(err)
		}
	}
}

func TestQuestionOfADeadUpstreamIsWithdrawn(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	id, tell := g.startUntilTold(ada, "peer__die")
	g.awaitAsk(ada, id)
	tell()
	if w := g.awaitWithdrawn(ada, id); w.Reason != runlog.TakenBack || !strings.Contains(w.Error, "the process ended: exit status 3") {
		t.Errorf("it was withdrawn as %+v", w)
	}
	if end := g.awaitEnd(ada, id); end.Status != runlog.Failed || !strings.Contains(end.Error, "peer") || !strings.Contains(end.Error, "exit status 3") {
		t.Errorf("the run ended with %+v", end)
	}
	if got := g.run(ada, "peer__echo", `{"text":"back"}`); !strings.Contains(got, "back") { // it was started again
		t.Errorf("the next call returned %s", got)
	}
	if u, _ := g.Lookup("peer"); !strings.Contains(latestError(u), "exit status 3") {
		t.Errorf("the status is %+v", u.Status())
	}
}

func TestQuestionThatTheUpstreamTakesBack(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	id, tell := g.startUntilTold(ada, "peer__take_back")
	g.awaitAsk(ada, id)
	tell()
	if w := g.awaitWithdrawn(ada, id); w.Reason != runlog.TakenBack || !strings.Contains(w.Error, "somebody else answered") {
		t.Errorf("it was withdrawn as %+v", w)
	}
	if end := g.awaitEnd(ada, id); !strings.Contains(string(end.Result), "went on") {
		t.Errorf("the run ended with %+v", end)
	}
}

func TestPeopleHaveSessionsOfTheirOwn(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	adas := g.run(ada, "peer__pid", `{}`)
	graces := g.run(grace, "peer__pid", `{}`)
	if again := g.run(ada, "peer__pid", `{}`); adas != again || adas == graces {
		t.Errorf("Ada's processes are %s and %s, Grace's is %s", adas, again, graces)
	}
	// Ada's call is the older one, and nothing says whose question it is.
	hanging := g.start(ada, "peer__hang", `{}`)
	asking := g.start(grace, "peer__ask", `{}`)
	askID, _ := g.awaitAsk(grace, asking)
	g.answer(grace, askID, accept(`{"name":"Grace"}`))
	if end := g.awaitEnd(grace, asking); !strings.Contains(string(end.Result), "Grace") {
		t.Errorf("the run ended with %+v", end)
	}
	if info, err := g.Info(ada, hanging); err != nil || len(info.Asks) > 0 {
		t.Errorf("Ada is asked %+v, %v", info.Asks, err)
	}
	_ = g.Cancel(t.Context(), ada, hanging, "test")
}

func TestStoppingARunCancelsItsCall(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	id := g.start(ada, "peer__hang", `{}`)
	u, _ := g.Lookup("peer")
	eventually(t, "the call", func() bool { return u.Status().CallCount == 1 && u.Status().Calls == 1 })
	g.run(ada, "peer__echo", `{}`) // by now, the other call has arrived
	if err := g.Cancel(t.Context(), ada, id, "test"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cancellation", func() bool {
		stderr := fmt.Sprint(u.Status().Stderr)
		return strings.Contains(stderr, "cancelled: the run was stopped") && u.Status().Calls == 0
	})
}

func TestHangingUpstreamHarmsNoOther(t *testing.T) {
	g := newGateway(t, child(t, "good", ""))
	bad, err := upstream.NewManager(upstream.Options{Servers: []config.Server{child(t, "bad", "hang in list"), child(t, "dead", "die in list")}, Photons: mustRegistry(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	ctx, cancel := contextFor(t, 300*time.Millisecond)
	defer cancel()
	bad.Start(ctx)
	if got := g.run(ada, "good__echo", `{"text":"fine"}`); !strings.Contains(got, "fine") {
		t.Errorf("the call returned %s", got)
	}
	hanging, _ := bad.Lookup("bad")
	dead, _ := bad.Lookup("dead")
	if s := hanging.Status(); s.State != upstream.Connecting {
		t.Errorf("the hanging upstream is %s: %s", s.State, s.Error)
	}
	eventually(t, "the failure", func() bool { return strings.Contains(latestError(dead), "exit status 7") })
}

func TestProgressAndLogsAreEvents(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	id := g.start(ada, "peer__count", `{"n":3}`)
	g.awaitEnd(ada, id)
	progress := 0
	batches, err := g.Read(t.Context(), ada, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for batch := range batches {
		for _, e := range batch {
			if e.Kind == "progress" {
				progress++
			}
		}
	}
	if progress != 3 {
		t.Errorf("there are %d events of progress", progress)
	}
	e := g.await(ada, g.start(ada, "peer__log", `{}`), "log")
	if want := `{"level":"warning","logger":"l","data":{"n":1}}`; string(e.Data) != want {
		t.Errorf("the log line is %s, want %s", e.Data, want)
	}
}

func TestCallThatRequiresAURL(t *testing.T) {
	opened := make(chan struct{})
	g := newGateway(t, testServerWith(t, "peer", testserver.Options{Protocol: "2025-11-25", Opened: opened}))
	id := g.start(ada, "peer__require_url", `{"after":3600000}`)
	_, q := g.awaitAsk(ada, id)
	if q.Kind != askdata.KindURL || !q.UntilDone || q.URL != "https://example.com/authorize" {
		t.Errorf("the question is %+v", q)
	}
	// Nobody answers it: the server says that the person has been there.
	opened <- struct{}{}
	if w := g.awaitWithdrawn(ada, id); !strings.Contains(w.Error, "completed") {
		t.Errorf("it was withdrawn as %+v", w)
	}
	if end := g.awaitEnd(ada, id); !strings.Contains(string(end.Result), "The URL was opened.") {
		t.Errorf("the run ended with %+v", end)
	}
}

func TestCallTimeoutStandsStillWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	server := child(t, "peer", "")
	server.Limits.CallTimeout = 2 * time.Second // much longer than it takes to ask
	g := newGateway(t, server)
	// The question may be that of either call.
	working := g.start(ada, "peer__hang", `{}`)
	g.awaitCalls("peer", 1)
	asking := g.start(ada, "peer__ask", `{}`)
	askID, _ := g.awaitAsk(ada, asking)
	// What begins now and takes too long, ends when the others have had more than their limit.
	if got := g.run(grace, "peer__hang", `{}`); !strings.Contains(got, "the call took too long") {
		t.Errorf("the call ended with %s", got)
	}
	if info, err := g.Info(ada, working); err != nil || info.State.Ended() || !strings.Contains(info.Pause(), "question of the server peer") {
		t.Errorf("the other call is %s, pausing as %q, %v", info.State, info.Pause(), err)
	}
	g.answer(ada, askID, accept(`{"name":"late"}`))
	if end := g.awaitEnd(ada, asking); !strings.Contains(string(end.Result), "late") {
		t.Errorf("the call ended with %+v", end)
	}
	if end := g.awaitEnd(ada, working); !strings.Contains(end.Error, "the call took too long") {
		t.Errorf("the other call ended with %+v", end)
	}
}

// awaitCalls waits until an upstream has had calls.
func (g *gateway) awaitCalls(name string, n int64) {
	g.t.Helper()
	u, _ := g.Lookup(name)
	if !programtest.Poll(func() bool { return u.Status().CallCount >= n }) {
		g.t.Fatalf("%s has had %d calls", name, u.Status().CallCount)
	}
}

func TestUpstreamWhoseToolsChange(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			g := newGateway(t, testServer(t, "peer", version))
			g.run(ada, "peer__change_tools", `{}`)
			eventually(t, "the new tool", func() bool {
				g.run(ada, "peer__change_lists", `{}`) // in case Beam didn't listen yet
				_, err := g.Start2(ada, "peer__added", `{}`)
				return err == nil
			})
		})
	}
}

// What a question asks for decides which error the upstream gets.
func TestErrorsTowardsUpstreams(t *testing.T) {
	g := newGateway(t, testServer(t, "old", "2025-11-25"), testServer(t, "new", "2026-07-28"))
	for tool, want := range map[string]string{
		"fault_schema_nested": "-32602", "fault_mode": "-32602", "fault_url_user": "-32602", "ask_password": "-32602",
	} {
		if got := g.run(ada, "old__"+tool, `{}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
		if got := g.run(ada, "new__"+tool, `{}`); !strings.Contains(got, "The tool asked a question that got no answer: ") {
			t.Errorf("%s of 2026-07-28: %s", tool, got)
		}
	}
}

func TestSamplingAndRootsAreAsked(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""), testServer(t, "new", "2026-07-28"))
	for photon, answer := range map[string]string{"peer__sample": `{"text":"Because."}`, "new__sample_text": `{"text":"Because."}`, "peer__roots": `{"roots":[{"uri":"file:///a"}]}`, "new__list_roots": `{"roots":[{"uri":"file:///a"}]}`} {
		id := g.start(ada, photon, `{}`)
		askID, _ := g.awaitAsk(ada, id)
		g.answer(ada, askID, accept(answer))
		end := g.awaitEnd(ada, id)
		if got := string(end.Result) + end.Error; !strings.Contains(got, "Because.") && !strings.Contains(got, "file:///a") {
			t.Errorf("%s ended with %s", photon, got)
		}
	}
}

func latestError(u *upstream.Upstream) string {
	s := u.Status()
	return s.LatestError()
}
