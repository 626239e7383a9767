package docs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/cli"
)

// stubs stands for every command: it prints the words of command lines, with a NUL after
// each, instead of running them.
const stubs = `
print() { printf '%s\0' "$@" $'\n' >&3; }
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
	for name, text := range map[string]string{
		".mcp.json": `{"mcpServers": {}}`, "people.json": `{"users": []}`, "models.json": `{"models": []}`, "answers.json": "{}", "secret": "secret",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	shell := exec.Command(bash, "-uc", stubs+placeholders.Replace(b.text)+"\nwait\n")
	shell.Env, shell.ExtraFiles = []string{"PATH=/nonexistent"}, []*os.File{w}
	out, err := shell.CombinedOutput()
	w.Close()
	if err != nil || len(out) > 0 {
		t.Errorf("%s: %v: %s", b.file, err, out)
	}
	var lines []byte
	for buffer := make([]byte, 64<<10); ; {
		n, err := r.Read(buffer)
		if lines = append(lines, buffer[:n]...); err != nil {
			break
		}
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(lines), "\x00\n\x00"), "\x00\n\x00") {
		if words := strings.Split(line, "\x00"); line != "" {
			if err := checkCommand(t, words[0], words[1:]); err != nil {
				t.Errorf("%s: %q: %v", b.file, words, err)
			}
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
