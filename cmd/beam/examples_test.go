package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/programtest"
)

// untestedExamples are the commands whose examples no test runs as they are: they listen on
// Beam's own port, open a browser, or change the configuration of the machine.
var untestedExamples = []string{"serve", "stdio", "open", "connect", "test-server", "upstream", "prune", "backup", "restore", "check"}

// exampleRuns are the runs that examples speak of, by what their command lines contain.
var exampleRuns = []struct{ contains, start string }{
	{"--value 7", "run kitchen_sink --ask integer --detach"},
	{"answer", "run kitchen_sink --ask form --detach"},
	{"follow", "run countdown --seconds 1 --detach"},
	{"", "run kitchen_sink --ask text --detach"},
}

// The examples of every command's help can be run. --help fits a screen.
func TestExamplesOfHelp(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	beam := serveInState(t, t.TempDir())
	list := beam.run("--help")
	if lines := strings.Count(list, "\n"); lines > 50 {
		t.Errorf("--help has %d lines", lines)
	}
	for line := range strings.Lines(list) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("--help has a line of %d columns: %s", len(line), line)
		}
	}
	commands := regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}[A-Z]`).FindAllStringSubmatch(list, -1)
	if len(commands) < 20 {
		t.Fatalf("%d commands in\n%s", len(commands), list)
	}
	for _, c := range commands {
		if slices.Contains(untestedExamples, c[1]) {
			continue
		}
		text, _, _ := strings.Cut(beam.run(c[1], "--help"), "\nFlags:")
		examples := regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(text, -1)
		if len(examples) == 0 {
			t.Errorf("the help of %s has no example", c[1])
		}
		for _, e := range examples {
			beam.runExample(e[1])
		}
	}
}

// A servedState is a state folder whose data folder a Beam owns.
type servedState struct {
	t       *testing.T
	dir     string
	program string
	env     []string
}

// serveInState starts beam serve with a state folder.
func serveInState(t *testing.T, dir string, args ...string) *servedState {
	t.Helper()
	program, err := exec.LookPath("beam")
	if err != nil {
		t.Fatal(err)
	}
	s := &servedState{t, dir, program, append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "HOME="+dir)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	console := programtest.NewConsole()
	serve := exec.Command(program, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	serve.Env, serve.Stdout = s.env, console
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill(); _ = serve.Wait() })
	if _, err := console.WaitForBaseURL(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs beam and returns what it prints to stdout.
func (s *servedState) run(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(s.program, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("beam %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// runExample runs a command line with a run of its own in place of 7f3c.
func (s *servedState) runExample(line string) {
	s.t.Helper()
	if strings.Contains(line, "7f3c") {
		for _, r := range exampleRuns {
			if !strings.Contains(line, r.contains) {
				continue
			}
			id := strings.TrimSpace(s.run(strings.Fields(r.start)...))
			for !strings.Contains(s.run("ps", "--all"), id) || strings.Contains(line, "answer") && !strings.Contains(s.run("asks"), id) {
				time.Sleep(10 * time.Millisecond) // another process is waited for
			}
			line = strings.ReplaceAll(line, "7f3c", id)
			break
		}
	}
	if before, _, found := strings.Cut(line, " >"); found { // the shell that the file is for may be missing
		line = before
	}
	cmd := exec.Command("bash", "-c", strings.TrimSuffix(line, "| Out-String | Invoke-Expression"))
	cmd.Env, cmd.Dir = s.env, s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("%s: %v\n%s", line, err, out)
	}
}
