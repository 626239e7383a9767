package cli

import (
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runs"
)

// printPhotonHelp prints how to run a photon.
func printPhotonHelp(p *program, photon runs.Photon) error {
	fields, err := photon.Fields()
	if err != nil {
		return err
	}
	own := make(map[string]bool)
	for name := range ownFlags(p.parser, "run") {
		own[name] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s run %s [FLAGS]\n\n%s\n", p.name, photon.Name, cleantext.Line(photon.Title))
	if photon.Description != "" {
		fmt.Fprintf(&b, "%s\n", cleantext.Text(photon.Description))
	}
	if len(fields) > 0 {
		b.WriteString("\nParameters:\n")
	}
	for i := range fields {
		f := &fields[i]
		name := cleantext.Line(f.Name)
		if own[name] {
			name = "in-" + name
		}
		fmt.Fprintf(&b, "  --%s %s\n", name, flagValue(f))
		if text := describeParameter(f); text != "" {
			fmt.Fprintf(&b, "      %s\n", text)
		}
	}
	fmt.Fprintf(&b, "\n\"%s run --help\" lists the flags of every photon.\n", p.name)
	_, err = p.stdout.Write([]byte(b.String()))
	return err
}

// flagValue says what the value of a parameter is.
func flagValue(f *ask.Field) string {
	switch {
	case f.Type == "boolean":
		return "(or --no-" + cleantext.Line(f.Name) + ")"
	case f.Type == "array":
		return "VALUE (can be repeated)"
	case f.Type == "number" || f.Type == "integer":
		return "NUMBER"
	case f.Type == "":
		return "JSON"
	case f.Format == "date":
		return "YYYY-MM-DD"
	case f.Format == ask.FormatTime:
		return "HH:MM"
	}
	return "TEXT"
}

// describeParameter says in a line what a parameter means, and which values it has.
func describeParameter(f *ask.Field) string {
	var parts []string
	if text := cleantext.Line(f.Description); text != "" {
		parts = append(parts, strings.TrimSuffix(text, ".")+".")
	}
	if len(f.Choices) > 0 {
		values := make([]string, len(f.Choices))
		for i, c := range f.Choices {
			values[i] = cleantext.Line(c.Value)
		}
		parts = append(parts, "One of "+humanize.List(values, 20)+".")
	}
	switch {
	case f.Minimum != nil && f.Maximum != nil:
		parts = append(parts, fmt.Sprintf("%s to %s.", humanize.Number(*f.Minimum), humanize.Number(*f.Maximum)))
	case f.Minimum != nil:
		parts = append(parts, "At least "+humanize.Number(*f.Minimum)+".")
	case f.Maximum != nil:
		parts = append(parts, "At most "+humanize.Number(*f.Maximum)+".")
	}
	if f.Default != nil {
		parts = append(parts, "Default: "+cleantext.Line(string(f.Default))+".")
	}
	if f.Required {
		parts = append(parts, "Required.")
	}
	return strings.Join(parts, " ")
}
