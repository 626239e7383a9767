package cli

import (
	"fmt"
	"runtime"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
)

// versionCommand prints the version.
type versionCommand struct {
	Output string `env:"-" default:"text" enum:"text,json" placeholder:"FORMAT" help:"text or json (default ${default})."`
}

// Help returns what --help says besides the flags.
func (*versionCommand) Help() string {
	return "With --output json also those of Go and of the system.\n\n    ${program} version\n    ${program} version --output json"
}

// Run prints the version.
func (c *versionCommand) Run(p *command.Program) error {
	if c.Output == "json" {
		return command.PrintJSON(p, map[string]string{"program": p.Name, "version": app.Version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	_, err := fmt.Fprintln(p.Stdout, p.Name, app.Version())
	return err
}
