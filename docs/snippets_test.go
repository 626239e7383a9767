package docs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// This file has the Go code of the documents, so that it is compiled: TestCodeBlocks finds
// each block here, and one line of "…" stands for what is between two parts.

type Target struct {
	Env string `json:"env" title:"Environment" enum:"dev,staging,prod"`
}

func deploy(ctx context.Context, in Target, yield generators.Yield) (string, error) {
	yield(generators.Status("checking " + in.Env))
	ok, err := ask.Confirm(yield, "go", "Deploy to "+in.Env+"?", ask.Verbs("Deploy", "Not now"))
	if err != nil || !ok {
		return "nothing was deployed", err
	}
	return generators.Step(yield, "deploy", func(ctx context.Context) (string, error) { return release(ctx, in.Env) })
}

func main() {
	beam.Main(generators.New("deploy", deploy, &generators.Options{Title: "Deploy", Durable: true}))
}

func pay(yield generators.Yield, in struct{ Amount string }) (string, error) {
	if generators.Patched(yield, "finance approves, too") {
		if ok, err := ask.Confirm(yield, "finance", "Pay "+in.Amount+"?"); err != nil || !ok {
			return "", err
		}
	}
	return "paid", nil
}

func release(_ context.Context, env string) (string, error) { return "deployed to " + env, nil }

type (
	Contact struct{}
	Server  struct{}
	Limits  struct{}
)

type Deployment struct {
	Title   string            `json:"title" title:"Title" minLength:"2"`
	Contact Contact           `json:"contact" title:"Contact"`           // a group of fields
	Servers []Server          `json:"servers,omitempty" title:"Servers"` // rows to add, move and remove
	Labels  map[string]string `json:"labels,omitempty" title:"Labels"`   // rows of a name and a value
	Limits  *Limits           `json:"limits,omitempty" title:"Limits"`   // a group that is added by a button
}

func confirmMigration(yield generators.Yield, sql, before, after string) (bool, error) {
	ok, err := ask.Confirm(yield, "apply", "Apply 1 migration?", ask.Destructive(), ask.Verbs("Apply", "Keep"),
		ask.Showing(generators.Code("001.sql", "sql", sql), generators.Diff("schema.sql", before, after)))
	return ok, err
}

func summarize(yield generators.Yield, text string) (string, error) {
	result, err := ask.Sample(yield, "summary", ask.SampleRequest{
		SystemPrompt: "Summarize the text in one sentence.",
		Messages:     []ask.SampleMessage{ask.FromUser(ask.TextBlock(text))},
		MaxTokens:    200,
	})
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}

func confirmAs(yield generators.Yield) (string, error) {
	var who generators.Caller
	ok, err := ask.Confirm(yield, "go", "Deploy?", ask.AnsweredBy(&who))
	if !ok {
		return "", err
	}
	return who.Name, err
}

func forReleaseManagers() *generators.Options {
	return &generators.Options{Allow: func(c generators.Caller) error {
		if !c.HasRole("release") {
			return errors.New("only for release managers")
		}
		return nil
	}}
}

func approve(yield generators.Yield, plan *generators.Artifact) (bool, error) {
	ok, err := ask.Confirm(yield, "approve", "Deploy?",
		ask.From(ask.Role("ops"), ask.User("ada")), ask.NotCaller(), ask.Showing(plan))
	return ok, err
}

type Receipt struct{}

func send(*http.Request) (Receipt, error) { return Receipt{}, nil }

func order(yield generators.Yield, shop string, order []byte) (Receipt, error) {
	receipt, err := generators.Step(yield, "order", func(ctx context.Context) (Receipt, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", shop, bytes.NewReader(order)) // made here, so that each try reads the body again
		if err != nil {
			return Receipt{}, err
		}
		r.Header.Set("Idempotency-Key", generators.IdempotencyKey(ctx))
		return send(r)
	}, generators.Retries(3, time.Second))
	return receipt, err
}

func awaitReady(yield generators.Yield, check func(context.Context) (bool, error)) (bool, error) {
	for {
		ready, err := generators.Step(yield, "check", check)
		if err != nil || ready {
			return ready, err
		}
		if err := generators.Sleep(yield, "before the next check", time.Hour); err != nil {
			return false, err
		}
	}
}

var Deploy = generators.New("deploy", deploy, &generators.Options{
	Durable:   true,
	Exclusive: func(in Target) string { return in.Env }, // "" waits for none
})

func TestDeploy(t *testing.T) {
	deploy := Deploy
	got := beamtest.Run(t, deploy, Target{Env: "dev"}, beamtest.Script{"go": beamtest.Accept(true)})
	if text := beamtest.Decode[string](t, got); text != "deployed to dev" {
		t.Error(text)
	}
}

func identify(*http.Request) (beam.Caller, error) { return beam.Caller{}, beam.ErrForbidden }

func mount(mux *http.ServeMux, invite *generators.Photon, logger *slog.Logger, registry *prometheus.Registry) error {
	b, err := beam.New(beam.Config{
		Photons:  []*generators.Photon{invite},
		URL:      "https://tools.example/tools",
		Identify: identify,
		Logger:   logger,
	})
	if err != nil {
		return err
	}
	mux.Handle("/tools/", b)
	registry.MustRegister(b.Collector())
	return nil
}

func mountWithSignIn(mux *http.ServeMux, b *beam.Beam) {
	mux.HandleFunc("/tools/", func(w http.ResponseWriter, r *http.Request) {
		_, err := identify(r)
		if err != nil && !errors.Is(err, beam.ErrForbidden) && strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
			return
		}
		b.ServeHTTP(w, r)
	})
}

func withPrompts(planDinner server.PromptHandlerFunc, readMenu server.ResourceHandlerFunc, guests server.PromptCompletionProvider) beam.Config {
	return beam.Config{
		MCP: func(s *server.MCPServer) {
			s.AddPrompt(mcp.NewPrompt("dinner"), planDinner)
			s.AddResource(mcp.NewResource("dinner://menu", "Menu"), readMenu)
			server.WithCompletions()(s)
			server.WithPromptCompletionProvider(guests)(s)
		},
	}
}

func shutDown(b *beam.Beam, server *http.Server) error {
	stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := errors.Join(b.Shutdown(stop), server.Shutdown(stop))
	return err
}

func replica(photons []*generators.Photon, identify func(*http.Request) (generators.Caller, error)) (*beam.Beam, error) {
	b, err := beam.New(beam.Config{
		Photons: photons, URL: "https://tools.example", Identify: identify,
		Store: "postgres://beam@db.example/beam", SecretsKeyFile: "secrets-key", Data: "data",
	})
	return b, err
}

var _ = []any{replica, main, Deployment{}, pay, confirmMigration, summarize, confirmAs, forReleaseManagers, approve, order, awaitReady, mount, mountWithSignIn, withPrompts, shutDown}
