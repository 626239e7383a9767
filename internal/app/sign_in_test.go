package app

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/datafolder"
)

func TestSignInHint(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	otherDir := filepath.Join(t.TempDir(), "my beam")
	own, other, temporary := openFolder(t, filepath.Join(state, "beam")), openFolder(t, otherDir), openFolder(t, "")
	identify := func(*http.Request) (generators.Caller, error) { return generators.Caller{}, nil }
	for what, tt := range map[string]struct {
		config        Config
		command, hint string
	}{
		"the user's own folder": {Config{Program: "beam", Folder: own}, "beam open",
			"If the page asks the user to sign in, they run `beam open` in a terminal and open the address that it prints."},
		"another folder": {Config{Program: "beam", Folder: other}, "beam open --data '" + otherDir + "'",
			"If the page asks the user to sign in, they run `beam open --data '" + otherDir + "'` in a terminal and open the address that it prints."},
		"a path": {Config{Program: "beam", Command: "bin/beam", Folder: own}, "bin/beam open",
			"If the page asks the user to sign in, they run `bin/beam open` in a terminal and open the address that it prints."},
		"in memory": {Config{Program: "beam", Folder: temporary}, "",
			"If the page asks the user to sign in, they first open the sign-in address that beam wrote to its log when it started."},
		"a token":         {Config{Program: "beam", Folder: own, Token: "x"}, "", "If the page asks the user for a token, it is the one that beam was started with."},
		"another program": {Config{Folder: own}, "", ""},
		"its own sign-in": {Config{Program: "beam", Folder: own, Identify: identify}, "", ""},
	} {
		if command, hint := tt.config.signInCommand(), tt.config.signInHint(); command != tt.command || hint != tt.hint {
			t.Errorf("%s: the command is %q and the hint %q, want %q and %q", what, command, hint, tt.command, tt.hint)
		}
	}
}

// openFolder opens a data folder, a temporary one if dir is empty.
func openFolder(t *testing.T, dir string) *datafolder.Folder {
	t.Helper()
	open := datafolder.OpenTemporary
	if dir != "" {
		open = func() (*datafolder.Folder, error) { return datafolder.Open(dir) }
	}
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}
