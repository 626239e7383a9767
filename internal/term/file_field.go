package term

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/huh/v2"

	"github.com/photon-beam/beam/internal/cleantext"
)

// fileField returns a file picker, or a field for paths if several files may be chosen.
func (v *fieldValues) fileField() huh.Field {
	rules := v.question.File
	description := "Any file"
	if len(rules.Types) > 0 {
		description = cleantext.Line(strings.Join(rules.Types, ", "))
	}
	if rules.Max == 1 && rules.Min == 1 {
		var extensions []string
		for _, t := range rules.Types {
			if strings.HasPrefix(t, ".") {
				extensions = append(extensions, t)
			}
		}
		if len(extensions) < len(rules.Types) { // media types are checked later
			extensions = nil
		}
		return huh.NewFilePicker().Title("Choose a file").Description(description).AllowedTypes(extensions).CurrentDirectory(".").
			Picking(true).FileAllowed(true).DirAllowed(false).ShowSize(true).ShowPermissions(false).Height(maxRows).Value(&v.path)
	}
	return huh.NewText().Title(fmt.Sprintf("The paths of %d to %d files, one a line", rules.Min, rules.Max)).Description(description).
		Value(&v.path).ExternalEditor(false).ShowLineNumbers(false)
}

// paths returns the paths that were typed.
func (v *fieldValues) paths() []string {
	paths := []string{}
	for line := range strings.Lines(v.path) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(paths, line) {
			paths = append(paths, line)
		}
	}
	return paths
}
