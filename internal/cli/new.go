package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/scaffold"
)

// newCommand writes a module with a photon.
type newCommand struct {
	Name string `arg:"" help:"The name of the photon, of the program and of the new folder: lower-case letters, digits and underscores."`
	To   string `env:"-" placeholder:"DIR" help:"The new folder (default: the name, in this folder)."`
	Beam string `env:"-" placeholder:"DIR" help:"The folder of Beam's source to use instead of a released version."`
}

// Help returns what --help says besides the flags.
func (*newCommand) Help() string {
	return "The folder is a Go module: a photon that asks a question, its test, the program, and a README that says what to do next.\n\n    ${program} new greet\n    ${program} new welcome --beam ../beam"
}

// Validate checks the name, unless there is none, which the parser reports.
func (c *newCommand) Validate() error {
	if c.Name == "" {
		return nil
	}
	return scaffold.CheckName(c.Name)
}

// Run writes the module.
func (c *newCommand) Run(p *command.Program) error {
	m := scaffold.Module{Name: c.Name}
	if v := app.Version(); strings.HasPrefix(v, "v") && !strings.Contains(v, "+") {
		m.Version = v
	}
	if c.Beam != "" {
		var err error
		if m.Source, err = sourceFolder(c.Beam); err != nil {
			return err
		}
	}
	folder := cmp.Or(c.To, c.Name)
	names, err := m.Write(folder)
	if err != nil {
		return err
	}
	generate, hint := "", ""
	if c.Beam == "" && !releases.MatchString(m.Version) {
		generate = "    go generate .\n"
		hint = "\nThis " + p.Name + " is no release. If go mod tidy doesn't find its version, use its source:\n\n    go mod edit -replace github.com/photon-beam/beam=FOLDER\n"
	}
	_, err = fmt.Fprintf(p.Stdout, "%s is a module with %s.\n\n    cd %s\n    go mod tidy\n%s    go test .\n    go run .\n%s", folder, strings.Join(names, ", "), folder, generate, hint)
	return err
}

// releases are the versions of releases, which have the script of pages.
var releases = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// sourceFolder returns the full path of a folder of Beam's source. It is an error if the
// folder isn't one: a module that it replaced Beam by could not be built.
func sourceFolder(name string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(name, "go.mod"))
	if err != nil || !sourceModule.Match(mod) {
		return "", fmt.Errorf("--beam %s isn't a folder of Beam's source: name the folder whose go.mod begins with module github.com/photon-beam/beam", name)
	}
	return filepath.Abs(name)
}

// sourceModule is in the go.mod of Beam's source.
var sourceModule = regexp.MustCompile(`(?m)^module github\.com/photon-beam/beam\s*$`)
