// Command embed is a server of its own that serves Beam below /tools, beside a page of
// its own and behind its own sign-in, with its own log and metrics. MCP clients find a
// prompt and a resource beside the tool.
//
//	go run ./examples/embed
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	tools := flag.String("url", "", "`URL` at which browsers reach the tools, if it is not /tools at the address")
	flag.Parse()
	if *tools == "" {
		*tools = "http://" + *addr + "/tools"
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *tools, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until ctx ends. It prints who may sign in.
func run(ctx context.Context, addr, tools string, stdout io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	people := newPeople(tools, "ada", "alan")
	b, err := beam.New(beam.Config{
		Photons:  []*generators.Photon{invite},
		URL:      tools,
		Identify: people.identify,
		MCP:      addToMCP,
		Logger:   slog.New(slog.NewJSONHandler(os.Stderr, nil)),
		// Set for replicas; otherwise, runs end with the server.
		Store: os.Getenv("EMBED_STORE"), SecretsKeyFile: os.Getenv("EMBED_SECRETS_KEY_FILE"), Data: os.Getenv("EMBED_DATA"),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: routes(b, people, tools), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	fmt.Fprintf(stdout, "The server listens on http://%s\n", listener.Addr())
	people.print(stdout)

	<-ctx.Done()
	stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(b.Shutdown(stop), server.Shutdown(stop)) // Beam first: its streams don't end by themselves
}

// routes returns the server's own pages, and Beam.
func routes(b *beam.Beam, people *people, tools string) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(b.Collector())
	mux := http.NewServeMux()
	mux.HandleFunc("/", people.serveHome)
	mux.HandleFunc("POST /sign-in", people.signIn)
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if u, err := url.Parse(tools); err == nil {
		mux.Handle(u.Path+"/", b)
	}
	return mux
}

// invite asks the caller whom to invite.
var invite = generators.New("invite", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
	guest, err := ask.Text(yield, "guest", "Whom do you want to invite?")
	if err != nil {
		return "", err
	}
	host := generators.CallerOf(ctx).Name
	yield(generators.Markdown("Invitation", fmt.Sprintf("Dear %s, please come to dinner.\n\n%s", guest, host)))
	return guest + " is invited by " + host, nil
}, &generators.Options{Title: "Invite a guest"})

// addToMCP adds what only MCP clients see.
func addToMCP(s *server.MCPServer) {
	s.AddPrompt(mcp.NewPrompt("dinner", mcp.WithPromptDescription("Plan a dinner"), mcp.WithArgument("guests")),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := mcp.NewTextContent("Plan a dinner for " + r.Params.Arguments["guests"] + ", and invite each of them.")
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, text)}), nil
		})
	s.AddResource(mcp.NewResource("dinner://menu", "Menu", mcp.WithMIMEType("text/plain")),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "Soup, bread, cheese"}}, nil
		})
}
