package interop_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// programPath is the path of the binary built from ./photons.
var programPath string

func TestMain(m *testing.M) { os.Exit(runWithProgram(m)) }

func runWithProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "beam-interop-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programPath = filepath.Join(dir, "photons")
	args := []string{"build", "-o", programPath}
	if race {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./photons")...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return m.Run()
}

// stdioCommand returns the program as an MCP client starts it. Its log goes to the
// console.
func stdioCommand(c *programtest.Console) *exec.Cmd {
	cmd := newCommand("stdio", "--memory")
	cmd.Stderr = c
	return cmd
}

// newCommand returns the program's command. It withdraws questions that the client
// can't be asked, unless a test sets another policy. It turns off the race detector's
// sleep at exit.
func newCommand(args ...string) *exec.Cmd {
	cmd := exec.Command(programPath, args...)
	cmd.Env = append([]string{"BEAM_ASK_FALLBACK=error"}, append(os.Environ(), "GORACE=atexit_sleep_ms=0 exitcode=66")...)
	return cmd
}

// A programServer is the program running as a server.
type programServer struct {
	url     string // MCP endpoint
	origin  string
	browser *http.Client // signed in as the operator
	console *programtest.Console
}

// startServer starts the program as a server, and ends it with the test.
func startServer(t *testing.T) *programServer {
	t.Helper()
	h := &programServer{console: programtest.NewConsole()}
	cmd := newCommand("serve", "--print-sign-in", "--addr", "127.0.0.1:0", "--memory")
	cmd.Stdout, cmd.Stderr = h.console, h.console
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := endProcess(cmd, syscall.SIGTERM); err != nil {
			t.Errorf("the server ended with %v\n%s", err, h.console)
		}
		expectNoRace(t, h.console)
	})
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	var err error
	if h.origin, err = h.console.WaitForBaseURL(ctx); err != nil {
		t.Fatal(err)
	}
	h.url = h.origin + "/mcp"
	if h.browser, err = signIn(ctx, h.console); err != nil {
		t.Fatal(err)
	}
	return h
}

// endProcess sends a signal to a process and waits for its end.
func endProcess(cmd *exec.Cmd, s os.Signal) error {
	if err := cmd.Process.Signal(s); err != nil {
		return err
	}
	timer := time.AfterFunc(programtest.WaitTimeout, func() { cmd.Process.Kill() })
	defer timer.Stop()
	return cmd.Wait()
}

func expectNoRace(t *testing.T, c *programtest.Console) {
	t.Helper()
	if text := c.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "goroutine 1 [") {
		t.Errorf("the program has a fault:\n%s", text)
	}
}

// signIn returns a browser that is signed in as the operator.
func signIn(ctx context.Context, c *programtest.Console) (*http.Client, error) {
	browser, err := c.SignIn(ctx)
	if err == nil {
		browser.Timeout = programtest.WaitTimeout
	}
	return browser, err
}
