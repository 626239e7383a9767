package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/programtest"
)

// A tmuxScreen is a terminal in which a shell runs.
type tmuxScreen struct {
	t      *testing.T
	socket string
}

// newScreen returns a terminal of a size, in which beam is on the PATH and runs in dir.
func newScreen(t *testing.T, width, height int, dir string, env ...string) *tmuxScreen {
	t.Helper()
	if testing.Short() {
		t.Skip("drives a terminal")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	s := &tmuxScreen{t, filepath.Join(t.TempDir(), "tmux")}
	shell := append([]string{"env", "PS1=$ ", "XDG_STATE_HOME=" + filepath.Join(dir, "state")}, env...)
	s.tmux(append([]string{"-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", dir}, append(shell, "sh")...)...)
	t.Cleanup(func() { s.tmux("kill-server") })
	s.waitFor(`^\$`)
	return s
}

func (s *tmuxScreen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil && args[0] != "kill-server" {
		s.t.Fatalf("tmux %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// press presses keys, as tmux names them.
func (s *tmuxScreen) press(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

// typeText types text.
func (s *tmuxScreen) typeText(text string) { s.t.Helper(); s.tmux("send-keys", "-l", text) }

// enter types a command line.
func (s *tmuxScreen) enter(line string) { s.t.Helper(); s.typeText(line); s.press("Enter") }

// waitFor waits until the screen matches, and returns it.
func (s *tmuxScreen) waitFor(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	var screen string
	if !programtest.Poll(func() bool { screen = s.tmux("capture-pane", "-p"); return re.MatchString(screen) }) {
		s.t.Fatalf("the screen doesn't show %s:\n%s", pattern, screen)
	}
	return screen
}

// expectNot fails if the screen, with all that was written, matches.
func (s *tmuxScreen) expectNot(pattern string) {
	s.t.Helper()
	if screen := s.tmux("capture-pane", "-p", "-S", "-1000"); regexp.MustCompile("(?m)" + pattern).MatchString(screen) {
		s.t.Errorf("the screen shows %s:\n%s", pattern, screen)
	}
}

// Forms fill in wide and narrow terminals.
func TestFormsInATerminal(t *testing.T) {
	for _, width := range []int{80, 40} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("some notes"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := newScreen(t, width, 30, dir)

			// What is wrong is said while it is typed; what is above the question stays.
			s.enter("beam run --memory --quiet kitchen_sink --ask text; echo status $?")
			s.waitFor(`What is the project called\?`)
			s.waitFor(`esc: decline, or answer later`)
			s.typeText("x")
			s.waitFor(`must be at least 2 characters`)
			s.waitFor(`> x`)
			s.press("Enter")
			s.typeText("yz")
			s.press("Enter")
			s.waitFor(`✓ What is the project called\? xyz`)
			s.waitFor(`status 0`)
			s.expectNot(`esc: decline`)

			// A secret is not shown.
			s.enter("clear; beam run --memory --quiet kitchen_sink --ask secret; echo status $?")
			s.waitFor(`passphrase`)
			s.waitFor(`esc: `)
			s.typeText("hunter2hunter2")
			s.waitFor(`\*{14}`)
			s.press("Enter")
			s.waitFor(`••••••`)
			s.waitFor(`status 0`)
			s.expectNot(`hunter2`)

			// Choices are filtered; Esc ends the filter first.
			s.enter("clear; beam run --memory --quiet kitchen_sink --ask select; echo status $?")
			s.waitFor(`Staging`)
			s.typeText("/prod")
			s.waitFor(`> Production`)
			s.press("Enter", "Enter")
			s.waitFor(`environment\? Production`)
			s.waitFor(`status 0`)

			// Esc leaves the question, with a choice of what that means.
			s.enter("clear; beam run --memory --quiet kitchen_sink --ask confirm; echo status $?")
			s.waitFor(`Continue\?`)
			s.waitFor(`esc: `)
			s.press("Escape")
			s.waitFor(`The question stays open`)
			s.press("Escape")
			s.waitFor(`Continue\?`)
			s.press("Escape")
			s.waitFor(`> Back to the question`)
			s.press("Down", "Enter")
			s.waitFor(`"action": "decline"`)
			s.waitFor(`status 0`)

			// A file is picked.
			s.enter("clear; beam run --memory --quiet kitchen_sink --ask file; echo status $?")
			s.waitFor(`notes.txt`)
			s.press("Enter")
			s.waitFor(`not read. notes.txt`)
			s.waitFor(`status 0`)

			// Ctrl-C stops the run.
			s.enter("clear; beam run --memory --quiet kitchen_sink --ask integer; echo status $?")
			s.waitFor(`esc: `)
			s.press("C-c")
			s.waitFor(`Stopped at the terminal`)
			s.waitFor(`status 130`)
			s.enter("clear; beam run --memory countdown --seconds 60; echo status $?")
			s.waitFor(`% .*left`)
			s.press("C-c")
			s.waitFor(`status 130`)
		})
	}
}

// The status line has what fits, also after the terminal has become narrower.
func TestStatusLineInATerminal(t *testing.T) {
	s := newScreen(t, 100, 20, t.TempDir(), "NO_COLOR=1")
	s.enter("beam run --memory countdown --seconds 600")
	s.waitFor(`^.* [█▏▎▍▌▋▊▉]?░+ +\d+% · \S+/s · \d+:\d\d left`)
	s.tmux("resize-window", "-x", "40", "-y", "20")
	s.waitFor(`^.{1,39}left *$`)
	if colored := s.tmux("capture-pane", "-p", "-e"); strings.Contains(colored, "\x1b[3") {
		t.Errorf("colors in spite of NO_COLOR: %q", colored)
	}
	s.press("C-c")
	s.waitFor(`Stopped`)
}

// For screen readers, nothing is redrawn, and questions are asked line by line.
func TestPlainTerminal(t *testing.T) {
	s := newScreen(t, 80, 40, t.TempDir())
	s.enter("beam run --plain --memory --quiet kitchen_sink --ask select; echo status $?")
	s.waitFor(`  2\. Staging`)
	s.enter("9")
	s.waitFor(`must be one of`)
	s.enter("2")
	s.waitFor(`✓ .* Staging`)
	s.waitFor(`status 0`)
	s.enter("clear; beam run --plain --memory --quiet kitchen_sink --ask secret; echo status $?")
	s.waitFor(`hidden`)
	s.enter("hunter2hunter2")
	s.waitFor(`status 0`)
	s.expectNot(`hunter2`)
	s.enter("clear; beam run --plain --memory --quiet kitchen_sink --ask confirm; echo status $?")
	s.waitFor(`yes .Yes. or no .No.`)
	s.enter(":decline")
	s.waitFor(`"decline"`)
	s.waitFor(`status 0`)
	s.enter("clear; beam run --plain --memory --quiet kitchen_sink --ask integer; echo status $?")
	s.waitFor(`:later`)
	s.enter("x")
	s.waitFor(`must be`)
	s.press("C-c")
	s.waitFor(`status 130`)
}

// A deadline counts down, below what the question shows; when it has passed, the form
// disappears.
func TestDeadlineInATerminal(t *testing.T) {
	s := newScreen(t, 40, 20, t.TempDir())
	s.enter("hello run --memory brief; echo status $?")
	s.waitFor(`(?s)Because it is late\..*Now or never\?\n +Answer by \d\d:\d\d:\d\d: 0:0\d left`)
	s.waitFor(`Now or never\? was not answered`)
	s.waitFor(`status 5`)
	s.expectNot(`esc: `)
}

// Missing parameters are asked for.
func TestParametersInATerminal(t *testing.T) {
	s := newScreen(t, 80, 30, t.TempDir())
	s.enter("beam run --memory --quiet --answer partySize=3 book_dinner; echo status $?")
	s.waitFor(`esc: `)
	s.press("Escape")
	s.waitFor(`The question stays open`)
	s.press("Down", "Enter")
	s.waitFor(`nothing was started`)
	s.waitFor(`status 3`)
}

// A run is answered half in the terminal and half over HTTP, as a browser does it. The first
// answer wins, wherever it comes from.
func TestTerminalAndBrowser(t *testing.T) {
	dir := t.TempDir()
	s := newScreen(t, 80, 40, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	beam, err := exec.LookPath("beam")
	if err != nil {
		t.Fatal(err)
	}
	console := programtest.NewConsole()
	serve := exec.CommandContext(ctx, beam, "serve", "--addr", "127.0.0.1:0", "--token", "open-sesame-and-stay-so")
	serve.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	serve.Stdout = console
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { serve.Process.Kill(); serve.Wait() })
	base, err := console.WaitForBaseURL(ctx)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(askID string, fields url.Values) int {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/mcp/request?action=accept&ask="+askID, strings.NewReader(fields.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", "Bearer open-sesame-and-stay-so")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	openAsk := func() string {
		t.Helper()
		cmd := exec.Command(beam, "asks")
		cmd.Env = serve.Env
		out, err := cmd.Output()
		id := regexp.MustCompile(`(?m)^\w+\.\d+`).FindString(string(out))
		if err != nil || id == "" {
			t.Fatalf("%v: %s", err, out)
		}
		return id
	}

	s.enter("BEAM_TOKEN=open-sesame-and-stay-so beam run --server " + base + " wizard; echo status $?")
	s.waitFor(`What is your name\?`)
	s.waitFor(`esc: `)
	first := openAsk()
	s.typeText("Ada")
	s.press("Enter")
	s.waitFor(`✓ What is your name\? Ada`)
	if status := answer(first, url.Values{"name": {"Bea"}}); status != http.StatusConflict {
		t.Errorf("the second answer has status %d", status)
	}
	for range 8 { // the rest in the browser, while the forms are on the screen
		screen := s.waitFor(`esc: |status \d`)
		if regexp.MustCompile(`status \d`).MatchString(screen) { // and not the command line
			break
		}
		id := openAsk()
		if status := answer(id, url.Values{"email": {"ada@example.org"}, "role": {"viewer"}, "confirm": {"true"}, "sendWelcome": {"true"}}); status >= 300 {
			t.Fatalf("status %d for %s:\n%s", status, id, screen)
		}
		s.waitForSettled(id, openAsksOf(beam, serve.Env))
	}
	s.waitFor(`\(browser\)`)
	s.waitFor(`status 0`)
}

// waitForSettled waits until a question is not open.
func (s *tmuxScreen) waitForSettled(id string, open func() string) {
	s.t.Helper()
	if !programtest.Poll(func() bool { return !strings.Contains(open(), id) }) {
		s.t.Fatalf("%s is still open", id)
	}
}

func openAsksOf(beam string, env []string) func() string {
	return func() string {
		cmd := exec.Command(beam, "asks")
		cmd.Env = env
		out, _ := cmd.Output()
		return string(out)
	}
}

// A request to a model is sent once it is approved; the reply is the answer.
func TestModelInATerminal(t *testing.T) {
	dir := t.TempDir()
	model := llmtest.New(t, func(x *llmtest.Call) { x.Reply("It is short.") })
	config := fmt.Sprintf(`{"models":[{"name":"tiny","endpoint":%q}]}`, model.URL+"/v1")
	if err := os.WriteFile(filepath.Join(dir, "models.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, 80, 40, dir)
	s.enter("beam run --memory --models models.json summarize --text 'A long text.'; echo status $?")
	s.waitFor(`Request to a model`)
	s.waitFor(`Send this request to`)
	s.waitFor(`> tiny`)
	s.waitFor(`Answer it myself`)
	if len(model.Requests()) > 0 {
		t.Error("the request was sent before it was approved")
	}
	s.press("Enter")
	s.waitFor(`→ Sent to the model tiny`)
	s.waitFor(`It is short`)
	s.waitFor(`status 0`)
	s.enter("clear; beam run --memory --models models.json summarize --text 'A long text.' --quiet; echo status $?")
	s.waitFor(`> tiny`)
	s.press("Down", "Enter")
	s.waitFor(`Answer in the model's place`)
	s.typeText("By hand.")
	s.press("Enter")
	s.waitFor(`By hand`)
	s.waitFor(`status 0`)

	// It is changed first, and a later one approved, too.
	before := len(model.Requests())
	s.enter("clear; beam run --memory --models models.json summarize --text 'A long text.' --quiet; echo status $?")
	s.waitFor(`> tiny`)
	s.press("Down", "Down", "Enter")
	s.waitFor(`┃ System prompt`)
	s.press("Tab")
	s.waitFor(`┃ Last message`)
	s.press("C-e")
	s.typeText(" Please.")
	s.press("Enter")
	s.waitFor(`At most this many tokens`)
	s.press("Enter")
	s.waitFor(`┃ At most this many tokens`)
	s.press("C-u")
	s.typeText("77")
	s.waitFor(`> 77\s*$`)
	s.press("Enter")
	s.waitFor(`┃ Approve`)
	s.press("Enter")
	s.waitFor(`It is short`)
	s.waitFor(`status 0`)
	if sent := model.Requests(); len(sent) != before+1 || !strings.Contains(string(sent[before]), `A long text.`) || !strings.Contains(string(sent[before]), ` Please."`) || !strings.Contains(string(sent[before]), `"max_tokens":77`) {
		t.Errorf("%q were sent", sent[before:])
	}
}

// Scripts approve a request by its key. A request without an approval names the models; one
// that a Beam keeps is approved from another terminal, also with changes.
func TestModelInScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	model := llmtest.New(t, func(x *llmtest.Call) { x.Reply("It is short.") })
	dir := t.TempDir()
	config := filepath.Join(dir, "models.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"models":[{"name":"tiny","endpoint":%q}]}`, model.URL+"/v1"), 0o600); err != nil {
		t.Fatal(err)
	}
	beam := serveInState(t, dir, "--models", config)
	run := func(status int, args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(beam.program, args...)
		cmd.Env, cmd.Dir = beam.env, beam.dir
		var errs strings.Builder
		cmd.Stderr = &errs
		out, _ := cmd.Output()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("beam %s: status %d\n%s%s", args, got, out, errs.String())
		}
		return string(out), errs.String()
	}
	local := []string{"run", "--memory", "--quiet", "--models", config, "summarize", "--text", "A long text."}
	if out, _ := run(0, append(local, "--approve", "summary")...); !strings.Contains(out, "It is short.") {
		t.Errorf("approved, it printed %s", out)
	}
	if _, errs := run(4, local...); !strings.Contains(errs, "--approve summary[=MODEL], which sends the request to tiny; or --answer summary=TEXT, in the model's place") {
		t.Errorf("unanswered, it said %s", errs)
	}
	if _, errs := run(2, append(local, "--approve", "summary=huge")...); !strings.Contains(errs, `must be one of the configured models; there is no "huge"`) {
		t.Errorf("with another model, it said %s", errs)
	}
	if _, errs := run(2, "run", "--memory", "--models", "none.json", "summarize"); !strings.Contains(errs, "the file of models "+filepath.Join(dir, "none.json")+": it can't be read") {
		t.Errorf("without the file, it said %s", errs)
	}

	_, errs := run(4, "run", "--quiet", "--no-input", "summarize", "--text", "A long text.")
	id := regexp.MustCompile(`beam answer (\w+\.\d+)`).FindStringSubmatch(errs)
	if id == nil {
		t.Fatalf("it said %s", errs)
	}
	if out, _ := run(0, "answer", id[1], "--help"); !strings.Contains(out, "or send the request with --approve MODEL:\n  tiny") {
		t.Errorf("the help is %s", out)
	}
	if _, errs := run(4, "answer", id[1]); !strings.Contains(errs, "--approve tiny, which sends the request; or --text TEXT") {
		t.Errorf("without an answer, it said %s", errs)
	}
	if _, errs := run(2, "answer", id[1], "--approve", "best", "--json", `{"maxtoken": 3}`); !strings.Contains(errs, "--json must be an object of the members systemPrompt, maxTokens") {
		t.Errorf("with a wrong change, it said %s", errs)
	}
	before := len(model.Requests())
	run(0, "answer", id[1], "--approve", "best", "--json", `{"maxTokens": 33, "standing": {"scope": "tool", "requests": 1}}`)
	if out, _ := run(0, "follow", "--quiet", strings.SplitN(id[1], ".", 2)[0]); !strings.Contains(out, "It is short.") {
		t.Errorf("approved, it printed %s", out)
	}
	if out, _ := run(0, "run", "--quiet", "summarize", "--text", "Another text.", "--output", "jsonl"); !strings.Contains(out, "a standing approval for the tool summarize; 0 requests left") {
		t.Errorf("by the standing approval, it printed %s", out)
	}
	if sent := model.Requests(); len(sent) != before+2 || !strings.Contains(string(sent[before]), `"max_tokens":33`) {
		t.Errorf("%q were sent", sent[before:])
	}
}
