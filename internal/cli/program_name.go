package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// defaultProgramName is the name of the program if the process has none.
const defaultProgramName = "beam"

// programName returns the name under which the process was started, which differs
// between programs made with Beam.
func programName() string {
	if len(os.Args) == 0 {
		return defaultProgramName
	}
	switch name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name {
	case "", ".", string(filepath.Separator):
		return defaultProgramName
	default:
		return name
	}
}

// programCommand returns what starts this program in a shell: its name if PATH leads to it,
// else the path by which it was started. The file that go run has built is gone when the
// program ends, so go run is the command then.
func programCommand() string {
	self, err := os.Executable()
	if err != nil || len(os.Args) == 0 {
		return defaultProgramName
	}
	if info, ok := debug.ReadBuildInfo(); ok && isFromGoRun(self) && info.Path != "command-line-arguments" {
		return "go run " + info.Path
	}
	return commandOf(self, os.Args[0])
}

// commandOf returns what starts a program in a shell that was started by a path.
func commandOf(self, path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	if found, err := exec.LookPath(name); err == nil && isSameFile(found, self) {
		return quoteWord(name)
	}
	if absolute, err := filepath.Abs(path); err == nil && filepath.Base(path) != path {
		path = absolute // who reads the command may be in another folder
	}
	return quoteWord(path)
}

// isFromGoRun reports whether go run has built a program.
func isFromGoRun(file string) bool {
	dir, parent := filepath.Dir(file), filepath.Dir(filepath.Dir(file))
	return filepath.Base(dir) == "exe" && strings.HasPrefix(filepath.Base(filepath.Dir(parent)), "go-build")
}

func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// insertProgramName replaces ${program} in the text of the commands' Help methods,
// where kong doesn't.
func insertProgramName(k *kong.Kong, name string) {
	for _, command := range append(k.Model.Leaves(false), k.Model.Children...) {
		command.Detail = strings.ReplaceAll(command.Detail, "${program}", name)
	}
}

// failedCommand returns the command that an error in parsing is about.
func (p *program) failedCommand(err error) string {
	var parsing *kong.ParseError
	if errors.As(err, &parsing) && parsing.Context != nil {
		names := ""
		for c := parsing.Context.Selected(); c != nil && c.Type == kong.CommandNode; c = c.Parent {
			names = " " + c.Name + names
		}
		return p.name + names
	}
	return p.name
}
