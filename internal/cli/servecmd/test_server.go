package servecmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/testserver"
)

// TestServer serves the test server.
type TestServer struct {
	HTTP     string `name:"http" env:"-" placeholder:"ADDR" help:"Serve streamable HTTP at ADDR, such as 127.0.0.1:3009, instead of stdin and stdout. The address of the MCP endpoint is printed to stdout."`
	Protocol string `env:"-" placeholder:"VERSION" help:"The only protocol version to speak: 2025-06-18, 2025-11-25 or 2026-07-28. Without it, the client chooses."`
	Fault    string `env:"-" placeholder:"NAME" help:"Misbehave at the start, or in the list of tools; see the list below."`
}

// Help returns what --help says besides the flags.
func (*TestServer) Help() string {
	return "Let your MCP client start it:\n\n" +
		`    {"mcpServers": {"test": {"command": "${program}", "args": ["test-server"]}}}` + "\n\n" +
		"These are its tools. Those that ask show in their result what the client answered, whatever it was. " +
		"Don't connect a client that you can't restart to a tool whose name begins with fault.\n\n" + testserver.Describe()
}

// Run serves until stdin or ctx ends.
func (c *TestServer) Run(ctx context.Context, p *command.Program) error {
	s, err := testserver.New(testserver.Options{Protocol: c.Protocol, Fault: c.Fault, Stderr: p.Stderr, Exit: os.Exit})
	if err != nil {
		return &command.UsageError{Err: err}
	}
	if c.HTTP != "" {
		return c.serveHTTP(ctx, p, s)
	}
	signal.Ignore(syscall.SIGPIPE) // writing to a client that has gone returns an error instead
	return s.ServeStdio(ctx, reopenPipe(p.Stdin), p.Stdout)
}

// serveHTTP serves over HTTP until ctx ends. Web pages of other origins can't use the
// tools.
func (c *TestServer) serveHTTP(ctx context.Context, p *command.Program, s *testserver.Server) error {
	listener, err := net.Listen("tcp", c.HTTP)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "http://%s/mcp\n", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.NewCrossOriginProtection().Handler(s))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // its connections are the clients' own concern
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
