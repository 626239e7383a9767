package upstream_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/client/clienttest"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

func TestMain(m *testing.M) {
	if os.Getenv(clienttest.Variable) != "" {
		clienttest.ServeChild()
	}
	os.Exit(m.Run())
}

// child returns the configuration of a server that is the test program.
func child(t testing.TB, name, options string) config.Server {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return config.Server{Target: client.Target{Name: name, Type: config.Stdio, Command: program, Env: map[string]string{clienttest.Variable: options + ","}}}
}

// A gateway is an engine with upstreams.
type gateway struct {
	*engine.Engine
	*upstream.Manager
	t testing.TB
}

var (
	ada   = generators.Caller{ID: "ada"}
	grace = generators.Caller{ID: "grace"}
)

func newGateway(t testing.TB, servers ...config.Server) *gateway {
	t.Helper()
	return newGatewayIn(t, smallstate.NewMemory(), servers...)
}

// newGatewayIn returns a gateway with small state.
func newGatewayIn(t testing.TB, state smallstate.Store, servers ...config.Server) *gateway {
	t.Helper()
	registry, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	logger := slog.New(slog.NewTextHandler(testWriter{t}, nil))
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Blobs: blobs, Logger: logger})
	if err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := upstream.NewManager(upstream.Options{
		Servers: servers, Photons: registry, Policy: policy.Options{State: state, Elicitation: policy.DefaultElicitation()},
		SamplingAvailable: true, RootsAvailable: true, Name: "beam", Version: "1", Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	if err := m.Start(ctx); err != nil {
		t.Fatal(err)
	}
	g := &gateway{e, m, t}
	t.Cleanup(func() {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		_ = e.Close(done)
		m.Close()
	})
	return g
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

func (g *gateway) start(who generators.Caller, photon, args string) string {
	g.t.Helper()
	info, err := g.Start2(who, photon, args)
	if err != nil {
		g.t.Fatal(err)
	}
	return info
}

// Start2 starts a run.
func (g *gateway) Start2(who generators.Caller, photon, args string) (string, error) {
	info, err := g.Engine.Start(context.Background(), who, engine.StartRequest{Photon: photon, Args: json.RawMessage(args), Surface: "test"})
	return info.ID, err
}

// await follows a run to its first entry of a kind.
func (g *gateway) await(who generators.Caller, id string, kind runlog.Kind) runlog.Entry {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), programtest.WaitTimeout)
	defer cancel()
	batches, err := g.Follow(ctx, who, id, 0)
	if err != nil {
		g.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			g.t.Fatalf("waiting for %s: %v", kind, err)
		}
		for _, e := range batch {
			if e.Kind == kind {
				return e
			}
		}
	}
	g.t.Fatalf("the run ended without an entry %s", kind)
	panic("unreachable")
}

func (g *gateway) awaitAsk(who generators.Caller, id string) (askID string, q *askdata.Question) {
	g.t.Helper()
	e := g.await(who, id, runlog.KindAsked)
	asked, err := runlog.Decode[runlog.Asked](e)
	if err != nil {
		g.t.Fatal(err)
	}
	return runlog.AskID(id, e.Seq), asked.Question
}

func (g *gateway) answer(who generators.Caller, askID string, a askdata.Answer) {
	g.t.Helper()
	if err := g.Answer(g.t.Context(), who, askID, a, "test"); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gateway) awaitEnd(who generators.Caller, id string) runlog.Finished {
	g.t.Helper()
	f, err := runlog.Decode[runlog.Finished](g.await(who, id, runlog.KindFinished))
	if err != nil {
		g.t.Fatal(err)
	}
	return f
}

func accept(content string) askdata.Answer {
	return askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}
}

func TestQuestionOfUpstreamIsAskedByTheRun(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	for _, tt := range []struct {
		name   string
		answer askdata.Answer
		want   string
	}{
		{"accepted", accept(`{"name":"Ada"}`), `"action":"accept","content":{"name":"Ada"}`},
		{"declined", askdata.Answer{Action: askdata.Decline}, `"action":"decline"`},
		{"cancelled", askdata.Answer{Action: askdata.Cancel}, `"action":"cancel"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := g.start(ada, "peer__ask", `{}`)
			askID, q := g.awaitAsk(ada, id)
			if q.Kind != askdata.KindForm || q.Message != "Who?" || len(q.Fields) != 1 || q.Fields[0].Name != "name" {
				t.Errorf("the question is %+v", q)
			}
			g.answer(ada, askID, tt.answer)
			end := g.awaitEnd(ada, id)
			if !strings.Contains(string(end.Result), tt.want) {
				t.Errorf("the upstream got %s (%s), want %s", end.Result, end.Error, tt.want)
			}
		})
	}
}

func mustRegistry(t *testing.T) *registry.Registry {
	r, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// An upstream that is still at work, here because nobody reads the log, doesn't keep the
// program from ending.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	stuck, free := make(chan struct{}), make(chan struct{})
	defer close(free)
	logger := slog.New(&blockingHandler{blocks: sync.OnceFunc(func() { close(stuck); <-free })})
	registry, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := upstream.NewManager(upstream.Options{Servers: []config.Server{{Target: client.Target{Name: "none", Type: config.Stdio, Command: "/nonexistent"}}}, Photons: registry, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = m.Start(ctx)
	<-stuck
	closed := make(chan struct{})
	go func() { m.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(programtest.ExitTimeout):
		t.Error("Close waits for the upstream")
	}
}

// A blockingHandler is a log that blocks.
type blockingHandler struct {
	slog.Handler
	blocks func()
}

func (h *blockingHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (h *blockingHandler) Handle(context.Context, slog.Record) error { h.blocks(); return nil }
