package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
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

// record returns a function that returns, without its styles, all that is written to the
// terminal from now on: a screen that lasts for seconds may be over before it is looked at.
func (s *tmuxScreen) record() (written func() string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "written")
	s.tmux("pipe-pane", "exec cat > "+file)
	return func() string {
		raw, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Fatal(err)
		}
		return ansi.Strip(string(raw))
	}
}

// expectNot fails if the screen, with all that was written, matches.
func (s *tmuxScreen) expectNot(pattern string) {
	s.t.Helper()
	if screen := s.tmux("capture-pane", "-p", "-S", "-1000"); regexp.MustCompile("(?m)" + pattern).MatchString(screen) {
		s.t.Errorf("the screen shows %s:\n%s", pattern, screen)
	}
}
