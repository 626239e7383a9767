package docs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/cli"
)

// stubs stands for every command: it writes the words of a command line to a file of its
// own, with a NUL after each, instead of running it.
const stubs = `
n=0
print() { printf '%s\0' "$@" > "words-${BASHPID:-$$}-$((n++))"; }
for name in beam bin/beam ./greet cd git go curl claude make; do eval "$name() { print $name \"\$@\"; }"; done
`

// placeholders are texts in command lines that stand for others.
var placeholders = strings.NewReplacer("--token …", "--token 0123456789abcdef", "KEY=…", "KEY=key", "7f3c…", "7f3c", "7f3c….", "7f3c.")

// checkShell checks the command lines of a block: what a shell makes of them, and that
// Beam has such commands and flags.
func checkShell(t *testing.T, b block) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash isn't installed")
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{ // that command lines name
		".mcp.json": `{"mcpServers": {}}`, "people.json": `{"users": []}`, "models.json": `{"models": []}`, "answers.json": "{}", "secret": "secret",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shell := exec.Command(bash, "-uc", stubs+placeholders.Replace(b.text)+"\nwait\n")
	shell.Env = []string{"PATH=/nonexistent"}
	if out, err := shell.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v: %s", b.file, err, out)
	}
	commands, err := filepath.Glob("words-*")
	if err != nil || len(commands) == 0 {
		t.Errorf("%s: there are no command lines: %v", b.file, err)
	}
	for _, file := range commands {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
		if err := checkCommand(t, words[0], words[1:]); err != nil {
			t.Errorf("%s: %q: %v", b.file, words, err)
		}
	}
}

// checkConsole is [checkShell] for a block in which "$ " begins command lines.
func checkConsole(t *testing.T, b block) {
	var commands strings.Builder
	for line := range strings.Lines(b.text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands.WriteString(command)
		}
	}
	checkShell(t, block{b.file, b.language, commands.String()})
}

// checkCommand checks the arguments of a command.
func checkCommand(t *testing.T, name string, args []string) error {
	switch name {
	case "beam", "bin/beam", "./greet":
		return checkBeam(args)
	case "go":
		if args[0] == "run" && len(args) > 1 {
			return checkBeam(args[2:])
		}
	case "claude":
		if i := slices.Index(args, "--"); i >= 0 {
			return checkBeam(args[i+2:])
		}
	case "make":
		if !strings.Contains(read(t, "../Makefile"), "\n"+args[0]+":") {
			return fmt.Errorf("the Makefile has no target %s", args[0])
		}
	}
	return nil
}

// checkBeam checks arguments of beam.
func checkBeam(args []string) error {
	if slices.Contains(args, "") {
		return errors.New("an argument is empty")
	}
	return cli.Check(args, shipped.Photons())
}
