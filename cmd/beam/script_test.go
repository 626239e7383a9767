package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

func TestMain(m *testing.M) {
	hello := func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Who is there?")
	}
	brief := func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Now or never?", ask.Timeout(3*time.Second), ask.Showing(generators.Markdown("Why", "Because it is *late*.")))
	}
	vault := func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		secret, err := ask.Secret(yield, "secret", "What is the word?")
		if err != nil {
			return "", err
		}
		f, err := ask.File(yield, "file", "What is to be locked up?")
		if err != nil {
			return "", err
		}
		if _, err := ask.Confirm(yield, "go", "Shall it be locked?"); err != nil {
			return "", err
		}
		content, err := f.Open()
		if err != nil {
			return "", err
		}
		defer content.Close()
		n, err := io.Copy(io.Discard, content)
		return fmt.Sprintf("%d bytes under a word of %d letters", n, len(secret)), err
	}
	purge := func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		if _, err := os.ReadFile("gate"); err != nil { // a FIFO, which the test opens
			return false, err
		}
		if ok, err := ask.Confirm(yield, "first", "Purge the first?", ask.Destructive()); !ok {
			return false, err
		}
		return ask.Confirm(yield, "second", "Purge the second?", ask.Destructive())
	}
	type row struct {
		Name  string `json:"name"`
		Count int    `json:"count" minimum:"1"`
	}
	type order struct {
		Tags    []string `json:"tags,omitempty"`
		Sizes   []int    `json:"sizes,omitempty"`
		Rows    []row    `json:"rows"`
		Version string   `json:"version,omitempty"`
		Data    string   `json:"data,omitempty"`
		InStock bool     `json:"in-stock,omitempty"`
		To      string   `json:"to"`
	}
	place := func(_ context.Context, in order, _ generators.Yield) (order, error) { return in, nil }
	boulder := func(context.Context, struct{}, generators.Yield) (string, error) {
		return strings.Repeat("stone ", 10<<20), nil
	}
	testscript.Main(m, map[string]func(){
		"beam": main,
		// Programs of other photons.
		"hello": func() {
			beam.Main(generators.New("hello", hello, nil), generators.New("brief", brief, nil), generators.New("purge", purge, nil), generators.New("order", place, nil))
		},
		"quarry": func() { beam.Main(generators.New("boulder", boulder, nil)) },
		// Clients of the scripts.
		"talk":  talkCommand,
		"until": untilCommand,
		"vaults": func() {
			beam.Main(append(shipped.Photons(), generators.New("vault", vault, &generators.Options{Durable: true}))...)
		},
	})
}

// The scripts run the real program, with curl as the client.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("HOME", env.WorkDir)
			env.Values[scriptServersKey{}] = map[string]*scriptServer{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":   cmdServe,
			"signal":  cmdSignal,
			"ended":   cmdEnded,
			"capture": cmdCapture,
			"metric":  cmdMetric,
			"status":  cmdStatus,
		},
	})
}

// scriptServersKey is the key of a script's servers in its environment's values.
type scriptServersKey struct{}

type scriptServer struct {
	*exec.Cmd
	done chan struct{} // closed when it has ended, as err says
	err  error
}

func serverNamed(ts *testscript.TestScript, name string) *scriptServer {
	p := ts.Value(scriptServersKey{}).(map[string]*scriptServer)[name]
	if p == nil {
		ts.Fatalf("there is no server %q", name)
	}
	return p
}

var listeningLine = regexp.MustCompile(`^Beam listens on (http://\S+)`)

// cmdServe implements serve NAME ARGS..., which starts beam serve on a free port
// and sets $NAME to its address and $NAME_SIGNIN to its sign-in address.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: serve name args...")
	}
	name := args[0]
	beam, err := exec.LookPath("beam")
	ts.Check(err)
	// testscript puts its own beam first on the PATH of the script.
	if path := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "beam"); fileExists(path) {
		beam = path
	}
	p := &scriptServer{exec.Command(beam, append([]string{"serve", "--print-sign-in", "--addr", "127.0.0.1:0"}, args[1:]...)...), make(chan struct{}), nil}
	p.Dir = ts.Getenv("WORK")
	p.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "XDG_STATE_HOME="+ts.Getenv("XDG_STATE_HOME"), "TMPDIR="+ts.Getenv("TMPDIR"),
		"BEAM_TOKEN="+ts.Getenv("BEAM_TOKEN"), "BEAM_SERVE_TOKEN="+ts.Getenv("BEAM_SERVE_TOKEN"))
	logs, err := os.Create(ts.MkAbs(name + ".log"))
	ts.Check(err)
	p.Stderr = logs
	out, err := p.StdoutPipe()
	ts.Check(err)
	ts.Check(p.Start())
	lines := bufio.NewReader(out)
	ts.Setenv(name, findLine(ts, lines, listeningLine))
	ts.Setenv(name+"_SIGNIN", findLine(ts, lines, regexp.MustCompile(`^Sign in as its operator, once: (https?://\S+)`)))
	go func() {
		_, _ = io.Copy(io.Discard, lines) // until it ends
		p.err = p.Wait()
		logs.Close()
		close(p.done)
	}()
	ts.Value(scriptServersKey{}).(map[string]*scriptServer)[name] = p
	ts.Defer(func() { // before its folder is removed
		_ = p.Process.Kill()
		<-p.done
	})
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// findLine reads lines until one matches, and returns the match's first group.
func findLine(ts *testscript.TestScript, lines *bufio.Reader, want *regexp.Regexp) string {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			ts.Fatalf("beam ended before it said %s", want)
		}
		if m := want.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
}

// cmdSignal implements signal NAME SIGNAL, which sends TERM, INT or KILL to a
// server.
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}
	ts.Check(serverNamed(ts, args[0]).Process.Signal(signals[args[1]]))
}

// cmdEnded implements ended NAME, which waits until a server has ended with exit status 0
// or, negated, with another one.
func cmdEnded(ts *testscript.TestScript, neg bool, args []string) {
	p := serverNamed(ts, args[0])
	select {
	case <-p.done:
		if (p.err != nil) != neg {
			ts.Fatalf("%s ended with %v", args[0], p.err)
		}
	case <-time.After(programtest.WaitTimeout):
		ts.Fatalf("%s has not ended within %s", args[0], programtest.WaitTimeout)
	}
}

// cmdCapture implements capture VAR REGEXP, which sets a variable to the first
// group of the match in stdout or stderr.
func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: capture var regexp")
	}
	out := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	m := regexp.MustCompile(args[1]).FindStringSubmatch(out)
	if m == nil {
		ts.Fatalf("no match for %s in %s", args[1], fmt.Sprintf("%.2000s", out))
	}
	ts.Setenv(args[0], m[1])
}

// cmdStatus implements status N COMMAND ARGS..., which runs a command that must end with
// that exit status.
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status n command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if got != want {
		ts.Fatalf("the exit status is %d, not %d", got, want)
	}
}
