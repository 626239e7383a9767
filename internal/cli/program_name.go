package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

// defaultProgramName is what the program is called where nobody says otherwise.
const defaultProgramName = "beam"

// programName is the name under which the process was started, which is what its
// user types: a program of somebody's photons has its own.
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

// insertProgramName puts the program's name into what the commands' Help says, where kong
// does not.
func insertProgramName(k *kong.Kong, name string) {
	for _, command := range k.Model.Leaves(false) {
		command.Detail = strings.ReplaceAll(command.Detail, "${program}", name)
	}
}

// failedCommand is the command that an error of reading flags is about.
func (p *program) failedCommand(err error) string {
	var parsing *kong.ParseError
	if errors.As(err, &parsing) && parsing.Context != nil {
		if c := parsing.Context.Selected(); c != nil {
			return p.name + " " + c.Name
		}
	}
	return p.name
}
