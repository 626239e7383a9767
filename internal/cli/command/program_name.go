package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// DefaultProgramName is the name of the program if the process has none.
const DefaultProgramName = "beam"

// NameOfProcess returns the name under which the process was started, which differs
// between programs made with Beam.
func NameOfProcess() string {
	if len(os.Args) == 0 {
		return DefaultProgramName
	}
	switch name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name {
	case "", ".", string(filepath.Separator):
		return DefaultProgramName
	default:
		return name
	}
}

// CommandOfProcess returns what starts this program in a shell: its name if PATH leads to it,
// else the path by which it was started. The file that go run has built is gone when the
// program ends, so go run is the command then.
func CommandOfProcess() string {
	self, err := os.Executable()
	if err != nil || len(os.Args) == 0 {
		return DefaultProgramName
	}
	if info, ok := debug.ReadBuildInfo(); ok && IsFromGoRun(self) && info.Path != "command-line-arguments" {
		return "go run " + info.Path
	}
	return commandOf(self, os.Args[0])
}

// commandOf returns what starts a program in a shell that was started by a path.
func commandOf(self, path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	if found, err := exec.LookPath(name); err == nil && isSameFile(found, self) {
		return QuoteWord(name)
	}
	if absolute, err := filepath.Abs(path); err == nil && filepath.Base(path) != path {
		path = absolute // who reads the command may be in another folder
	}
	return QuoteWord(path)
}

// IsFromGoRun reports whether go run has built a program.
func IsFromGoRun(file string) bool {
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

// InsertNames replaces ${program} and ${photon}, one that the program has, in the text of the
// commands' Help methods, where kong doesn't. It removes examples of photons that it doesn't have.
func (p *Program) InsertNames(k *kong.Kong) {
	photon := "PHOTON"
	if all := p.Registry.All(); len(all) > 0 {
		photon = all[0].Name()
	}
	names := strings.NewReplacer("${program}", p.Name, "${photon}", photon)
	for _, command := range append(k.Model.Leaves(false), k.Model.Children...) {
		command.Detail = names.Replace(examples.ReplaceAllStringFunc(command.Detail, func(example string) string {
			if _, found := p.Registry.Lookup(examples.FindStringSubmatch(example)[1]); !found {
				return ""
			}
			return example
		}))
	}
}

// examples matches the examples that run a photon.
var examples = regexp.MustCompile(`(?m)^    \$\{program\} run (\w+) .*\n`)
