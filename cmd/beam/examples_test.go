package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

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
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	if err := os.Symlink(source, filepath.Join(parent, "beam")); err != nil { // ../beam in the examples
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	beam := serveInState(t, dir)
	old := filepath.Join(dir, "old", "beam")
	programtest.UnpackArchive(t, filepath.Join(source, "internal/systemtest/durability/testdata/c2c56c6/stopped.tar.gz"), old)
	if err := os.Chmod(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new-build"), []byte("#!/bin/sh\nexec beam \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	list := beam.run("--help")
	if lines := strings.Count(list, "\n"); lines > 42 {
		t.Errorf("--help has %d lines", lines)
	}
	for line := range strings.Lines(list) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("--help has a line of %d columns: %s", len(line), line)
		}
	}
	commands := regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}[A-Z]`).FindAllStringSubmatch(list, -1)
	commands = append(commands, []string{"", "migrate"}) // hidden, since a start does that
	if len(commands) < 20 {
		t.Fatalf("%d commands in\n%s", len(commands), list)
	}
	for _, c := range commands {
		text, _, _ := strings.Cut(beam.run(c[1], "--help"), "\nFlags:")
		examples := regexp.MustCompile(`(?m)^    ((?:\{"mcpServers|source <\(beam|beam)\b.*)$`).FindAllStringSubmatch(text, -1)
		if len(examples) == 0 {
			t.Errorf("the help of %s has no example", c[1])
		}
		for _, e := range examples {
			switch {
			case strings.Contains(e[1], "login.example"), strings.Contains(e[1], "db.example"): // which a test can't reach
			case strings.HasPrefix(e[1], "{"):
				beam.runClientExample(e[1])
			case c[1] == "serve":
				beam.runServeExample(e[1])
			case c[1] == "dev" && strings.HasPrefix(e[1], "beam new "): // as the help of new has it
			case c[1] == "dev":
				beam.runDevExample(e[1])
			case c[1] == "upstream": // without a Beam that would start the servers
				beam.withState("apart", "TRACKER_TOKEN=x").runExample(e[1])
			case c[1] == "migrate" || c[1] == "repair": // without a Beam that owns the folder
				beam.withState("old").runExample(e[1])
			case c[1] == "fork": // of a photon that takes that input
				beam.runExample(strings.Replace(e[1], `{"env": "staging"}`, `{"ask": "text"}`, 1))
			default:
				beam.runExample(e[1])
			}
		}
	}
	if n := beam.countOpened(); n != 2 {
		t.Errorf("%d sign-in addresses were opened by open and serve --open", n)
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
	s := &servedState{t, dir, program, append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "HOME="+dir, "PATH="+fakeCommands(t, dir)+string(os.PathListSeparator)+os.Getenv("PATH"))}
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

// withState returns the same with another state folder, and further variables.
func (s *servedState) withState(name string, env ...string) *servedState {
	apart := *s
	apart.env = append(slices.Clip(s.env), append(env, "XDG_STATE_HOME="+filepath.Join(s.dir, name))...)
	return &apart
}

// fakeCommands makes commands in place of those that open a browser and reach another
// machine, and returns their folder. What is opened is appended to the file opened.
func fakeCommands(t *testing.T, dir string) string {
	t.Helper()
	folder := filepath.Join(dir, "commands")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"xdg-open", "x-www-browser", "www-browser", "open", "ssh"} {
		script := "#!/bin/sh\necho \"$1\" >> " + filepath.Join(dir, "opened") + "\n"
		if name == "ssh" {
			script = "#!/bin/sh\ncat > /dev/null\n"
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// runServeExample starts a playground with a state folder of its own, and stops it when it
// listens. What follows the command line on its line explains it.
func (s *servedState) runServeExample(line string) {
	s.t.Helper()
	line, _, _ = strings.Cut(line, "   ")
	line = strings.NewReplacer("~/projects", s.dir, "NAME", "countdown", ":8080", "127.0.0.1:0", "--token S", "--token open-sesame-and-stay-so").Replace(line)
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	console := programtest.NewConsole()
	serve := exec.CommandContext(ctx, s.program, strings.Fields(line)[1:]...)
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	serve.Env = append(slices.Clip(s.env), "XDG_STATE_HOME="+s.t.TempDir(), "BEAM_ADDR=127.0.0.1:0")
	serve.Stdout, serve.Stderr = console, s.t.Output()
	opened := s.countOpened()
	if err := serve.Start(); err != nil {
		s.t.Fatal(err)
	}
	if _, err := console.WaitForBaseURL(ctx); err != nil {
		s.t.Errorf("%s: %v", line, err)
	}
	if strings.Contains(line, "--open") && !programtest.Poll(func() bool { return s.countOpened() > opened }) {
		s.t.Errorf("%s: no browser is opened", line)
	}
	cancel()
	_ = serve.Wait()
}

// countOpened counts the sign-in addresses that were opened.
func (s *servedState) countOpened() int {
	opened, err := os.ReadFile(filepath.Join(s.dir, "opened"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return strings.Count(string(opened), "/sign-in-")
}

// runDevExample develops the module that the example of new has written, and interrupts it
// once it is built, or once it is known that it can't be: it needs a release of Beam.
func (s *servedState) runDevExample(line string) {
	s.t.Helper()
	line, _, _ = strings.Cut(line, "   ")
	line, _, _ = strings.Cut(line, " --addr")
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", "exec env "+line+" --addr "+programtest.FreeAddress(s.t))
	cmd.Env, cmd.Dir = append(slices.Clip(s.env), "GOPROXY=off"), s.dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(io.TeeReader(stderr, &said)); lines.Scan(); {
		if strings.Contains(lines.Text(), "built") {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "built") {
		s.t.Errorf("%s: %v\n%s", line, err, &said)
	}
}

// runClientExample starts the server of a client's configuration, as the client does.
func (s *servedState) runClientExample(config string) {
	s.t.Helper()
	var c struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(config), &c); err != nil || len(c.Servers) != 1 {
		s.t.Fatalf("%s: %v", config, err)
	}
	for _, server := range c.Servers {
		messages := filepath.Join(s.t.TempDir(), "messages")
		writeFile(s.t, messages, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n")
		args := slices.DeleteFunc(server.Args, func(arg string) bool { return arg == "--open" })
		cmd := exec.Command("talk", append([]string{messages, s.program}, args...)...)
		cmd.Env = s.env
		out, err := cmd.Output()
		if err != nil || server.Command != "beam" || !strings.Contains(string(out), `"serverInfo"`) {
			s.t.Errorf("%s: %v: %s", config, err, out)
		}
	}
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
			isListed := func() bool {
				return strings.Contains(s.run("ps", "--all"), id) && (!strings.Contains(line, "answer") || strings.Contains(s.run("asks"), id))
			}
			if !programtest.Poll(isListed) {
				s.t.Fatalf("%s is not listed", id)
			}
			line = regexp.MustCompile(`7f3c\.\d+`).ReplaceAllStringFunc(line, func(string) string {
				return regexp.MustCompile(id + `\.\d+`).FindString(s.run("asks"))
			})
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
