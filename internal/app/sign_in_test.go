package app

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/generators"
)

func TestSignInHint(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	own, other, temporary := &DataFolder{dir: filepath.Join(state, "beam")}, &DataFolder{dir: "/srv/my beam"}, &DataFolder{dir: "/tmp/x", temporary: true}
	identify := func(*http.Request) (generators.Caller, error) { return generators.Caller{}, nil }
	for what, tt := range map[string]struct {
		config        Config
		command, hint string
	}{
		"the user's own folder": {Config{Program: "beam", Folder: own}, "beam open",
			"If the page asks the user to sign in, they run `beam open` in a terminal and open the address that it prints."},
		"another folder": {Config{Program: "beam", Folder: other}, "beam open --data '/srv/my beam'",
			"If the page asks the user to sign in, they run `beam open --data '/srv/my beam'` in a terminal and open the address that it prints."},
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
