package cli

import (
	"bytes"
	"io"
	"regexp"
	"testing"

	"github.com/photon-beam/beam/internal/cli/command"
)

// --help lists the flags that most people need; --help-all lists all.
func TestHelpIsShort(t *testing.T) {
	count := func(args ...string) int {
		var out bytes.Buffer
		p := &process{&command.Program{Name: "beam", Command: "beam", Stdout: &out, Stderr: io.Discard}}
		if status := p.run(t.Context(), args, nil); status != command.ExitOK {
			t.Fatalf("%v: exit status %d", args, status)
		}
		return len(regexp.MustCompile(`(?m)^      --`).FindAll(out.Bytes(), -1)) - 2 // --version and --help-all
	}
	for _, name := range []string{"serve", "stdio"} {
		if n := count(name, "--help"); n < 5 || n > 10 {
			t.Errorf("the help of %s has %d flags", name, n)
		}
		if n := count(name, "--help-all"); n < 25 {
			t.Errorf("the whole help of %s has only %d flags", name, n)
		}
	}
}
