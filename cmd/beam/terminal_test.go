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
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

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
			s.waitFor(`(?s)Staging.*esc: `)
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
			s.waitFor(`esc: back`)
			s.press("Escape")
			s.waitFor(`esc: decline`)
			s.press("Escape")
			s.waitFor(`(?s)> Back to the question.*esc: back`)
			s.press("Down", "Enter")
			s.waitFor(`"action": "decline"`)
			s.waitFor(`status 0`)

			// A file is picked.
			s.enter("clear; beam run --memory --quiet kitchen_sink --ask file; echo status $?")
			s.waitFor(`(?s)notes.txt.*esc: decline`)
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

// Copying the runs of an earlier version has a bar, which is gone in the end: in the command for
// that, and in the first start.
func TestMigrationInATerminal(t *testing.T) {
	for command, end := range map[string]string{"migrate": "are those of this version", "serve --addr 127.0.0.1:0": "Beam listens"} {
		dir := t.TempDir()
		data := filepath.Join(dir, "data")
		programtest.UnpackArchive(t, "../../internal/systemtest/durability/testdata/c2c56c6/stopped.tar.gz", data)
		if err := os.Chmod(data, 0o700); err != nil {
			t.Fatal(err)
		}
		s := newScreen(t, 120, 40, dir)
		written := s.record()
		s.enter("beam " + command + " --data data")
		s.waitFor(end)
		s.expectNot(`Reading runs`)
		if !regexp.MustCompile(`Reading runs █*.?░* +\d+%`).MatchString(written()) {
			t.Errorf("%s shows no bar:\n%s", command, written())
		}
		s.press("C-c")
	}
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
	s.waitFor(`People:`)
	s.enter("x")
	s.waitFor(`must be`)
	s.press("C-c")
	s.waitFor(`status 130`)
}

// The JSON of a parameter is checked while it is typed, and what else was typed is kept.
func TestRowsInATerminal(t *testing.T) {
	s := newScreen(t, 100, 30, t.TempDir())
	s.enter("hello run --memory order; echo status $?")
	s.waitFor(`As JSON, such as .*"count": 1, "name"`)
	s.waitFor(`esc: `)
	s.typeText(`[{"name": "pen", "count": "x"}]`)
	s.waitFor(`0/count must be a`)
	s.press("Enter")
	s.press("BSpace", "BSpace", "BSpace", "BSpace", "BSpace")
	s.typeText(`2}]`)
	s.press("Enter")
	s.waitFor(`┃ [Tt]o`)
	s.typeText("Ada")
	s.press("Enter")
	s.waitFor(`"to": "Ada"`)
	s.waitFor(`"count": 2`)
	s.waitFor(`status 0`)
}

// When the terminal is closed, a run that nothing else keeps is stopped, and its log says so.
func TestHangUp(t *testing.T) {
	dir := t.TempDir()
	s := newScreen(t, 80, 30, dir)
	s.enter("hello run hello")
	s.waitFor(`esc: `)
	s.tmux("kill-session")
	hello, err := exec.LookPath("hello")
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	if !programtest.Poll(func() bool {
		cmd := exec.Command(hello, "ps", "--all")
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		out, _ = cmd.CombinedOutput()
		return strings.Contains(string(out), "stopped")
	}) {
		t.Errorf("it isn't stopped:\n%s", out)
	}
}

// Keys that were pressed before a question is drawn don't answer it, and Enter alone
// confirms nothing that can't be undone.
func TestKeysThatCameTooEarly(t *testing.T) {
	for _, tt := range []struct {
		name, flags, typed, refused string
		keys                        []string // that confirm
	}{
		{"a form", "", "y", "choose with the arrow keys", []string{"Down", "Enter"}},
		{"lines", "--plain ", "yes", "Type yes or no", []string{"y", "Enter"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			gate := filepath.Join(dir, "gate")
			if err := syscall.Mkfifo(gate, 0o600); err != nil {
				t.Fatal(err)
			}
			s := newScreen(t, 100, 30, dir, "NO_COLOR=1")
			s.enter("hello run " + tt.flags + "--memory purge; echo status $?")
			open, err := os.OpenFile(gate, os.O_WRONLY, 0) // once the photon reads it
			if err != nil {
				t.Fatal(err)
			}
			s.enter(tt.typed)
			s.enter(tt.typed)
			s.typeText("unfinished")
			s.waitFor(`unfinished`) // echoed
			open.Close()
			s.waitFor(`Purge the first\?`)
			s.waitFor(`Typed too early`)
			if tt.flags == "" {
				s.waitFor(`> .nothing chosen.`)
				s.waitFor(`esc: `)
			} else {
				s.waitFor(`or no .No.:`)
			}
			s.press("Enter")
			s.waitFor(tt.refused)
			s.press(tt.keys...)
			s.waitFor(`✓ Purge the first\? yes`)
			if tt.flags == "" {
				s.waitFor(`(?s)Purge the second.*esc: `)
				s.press("Down", "Down", "Enter")
			} else {
				s.waitFor(`(?s)Purge the second.*or no .No.:`)
				s.enter("no")
			}
			s.waitFor(`✓ Purge the second\? no`)
			s.waitFor(`status 0`)
		})
	}
}

// The selected button can be told from the other without colors.
func TestSelectedButton(t *testing.T) {
	for _, env := range []string{"NO_COLOR=1", "TERM=vt100", "COLORTERM="} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			s := newScreen(t, 80, 30, t.TempDir(), env)
			s.enter("beam run --memory --quiet kitchen_sink --ask confirm")
			s.waitFor(`esc: `)
			s.waitFor(`^[^\[]*Yes[^\[]*\[ ?No ?\]`)
			s.press("Left")
			s.waitFor(`\[ ?Yes ?\][^\[]*No[^\[]*$`)
			s.press("Enter")
			s.waitFor(`✓ Continue\? yes`)
		})
	}
}

// A deadline counts down, below what the question shows; when it has passed, the form
// disappears.
func TestDeadlineInATerminal(t *testing.T) {
	s := newScreen(t, 40, 20, t.TempDir())
	written := s.record()
	s.enter("hello run --memory brief; echo status $?")
	s.waitFor(`Now or never\? was not answered`)
	s.waitFor(`status 5`)
	s.expectNot(`esc: `)
	shown := regexp.MustCompile(`(?s)Because it is late\..*Now or never\?\s+Answer by \d\d:\d\d:\d\d: 0:0\d left`)
	if !programtest.Poll(func() bool { return shown.MatchString(written()) }) {
		t.Errorf("what the question shows, or the time left, was not below it:\n%s", written())
	}
}

// Missing parameters are asked for.
func TestParametersInATerminal(t *testing.T) {
	s := newScreen(t, 80, 30, t.TempDir())
	s.enter("beam run --memory --quiet --answer partySize=3 book_dinner; echo status $?")
	s.waitFor(`esc: `)
	s.press("Escape")
	s.waitFor(`(?s)The question stays open.*esc: back`)
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
	// The rest in the browser, while the forms are on the screen.
	for _, next := range []struct {
		message string
		fields  url.Values
	}{
		{`Which account should Ada get`, url.Values{"email": {"ada@example.org"}, "role": {"viewer"}}},
		{`with reservation`, url.Values{"confirm": {"true"}}},
	} {
		screen := s.waitFor(`(?s)` + next.message + `.*esc: `)
		id := openAsk()
		if status := answer(id, next.fields); status >= 300 {
			t.Fatalf("status %d for %s:\n%s", status, id, screen)
		}
	}
	s.waitFor(`\(browser\)`)
	s.waitFor(`status 0`)
}
