package cli

import (
	"errors"
	"os"
	"path/filepath"
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
