package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// programVariable names the program that the test's own binary is to be.
const programVariable = "BEAM_TEST_PROGRAM"

// programs are what the test's own binary can be besides the test.
var programs = map[string]func(){
	"beam":   func() { beam.Main(greet) },
	"go-sdk": serveGoSDK,
	"mcp-go": serveMCPGo,
}

func TestMain(m *testing.M) {
	if run := programs[os.Getenv(programVariable)]; run != nil {
		run()
		return
	}
	os.Exit(m.Run())
}

// greet is the photon of a Beam that is another Beam's upstream.
var greet = generators.New("greet", askAndGreet, nil)

// An upstream is one in a configuration file.
type upstream struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
}

// child returns an upstream that is one of programs.
func child(t testing.TB, program string, args ...string) upstream {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return upstream{Command: self, Args: args, Env: map[string]string{programVariable: program, "GORACE": "atexit_sleep_ms=0"}}
}

// testServer returns an upstream that is the test server.
func testServer(t testing.TB, flags ...string) upstream {
	return child(t, "beam", append([]string{"test-server"}, flags...)...)
}

// writeConfig writes a configuration file.
func writeConfig(t testing.TB, servers map[string]upstream) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A gateway is a running beam serve with upstreams.
type gateway struct {
	t       testing.TB
	cmd     *exec.Cmd
	console *programtest.Console
	url     string
	browser *http.Client // the operator's
	exited  chan struct{}
}

// startGateway starts beam serve with upstreams, and stops it after the test.
func startGateway(t testing.TB, servers map[string]upstream, flags ...string) *gateway {
	t.Helper()
	g := &gateway{t: t, console: programtest.NewConsole()}
	c := child(t, "beam")
	args := append([]string{"serve", "--print-sign-in", "--memory", "--addr", "127.0.0.1:0", "--mcp-config", writeConfig(t, servers)}, flags...)
	g.cmd = exec.Command(c.Command, args...)
	for name, value := range c.Env {
		g.cmd.Env = append(g.cmd.Env, name+"="+value)
	}
	g.cmd.Env = append(g.cmd.Env, "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"))
	g.cmd.Stdout, g.cmd.Stderr = g.console, g.console
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g.exited = make(chan struct{})
	go func() { _ = g.cmd.Wait(); close(g.exited) }()
	t.Cleanup(func() {
		_ = g.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-g.exited:
		case <-time.After(3 * programtest.ExitTimeout): // a stubborn upstream alone may take most of one
			_ = g.cmd.Process.Signal(syscall.SIGQUIT) // prints its goroutines
			<-g.exited
			t.Errorf("beam serve did not end; it printed:\n%.100000s", g.console)
		}
		if t.Failed() {
			t.Logf("beam serve printed:\n%.20000s", g.console)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	var err error
	if g.url, err = g.console.WaitForBaseURL(ctx); err != nil {
		t.Fatal(err)
	}
	if g.browser, err = g.console.SignIn(ctx); err != nil {
		t.Fatal(err)
	}
	return g
}
