package runcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/term"
)

// printPhotonHelp prints how to run a photon.
func printPhotonHelp(p *command.Program, photon runs.Photon) error {
	fields, err := photon.Fields()
	if err != nil {
		return err
	}
	about := cleantext.Line(photon.Title)
	if photon.Description != "" {
		about += "\n" + cleantext.Text(photon.Description)
	}
	return printFields(p, fmt.Sprintf("Usage: %s run %s [FLAGS]", p.Name, cleantext.Line(photon.Name)), about, "Parameters", "run", fields)
}

// printFields prints the help of a command with flags for fields. A field whose name is
// that of a flag of the command is set with --in-NAME.
func printFields(p *command.Program, usage, about, title, verb string, fields askdata.Fields) error {
	own := command.OwnFlags(p.Parser, verb)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", usage, cleantext.Text(about))
	if len(fields) > 0 {
		fmt.Fprintf(&b, "\n%s:\n", title)
	}
	for i := range fields {
		f := &fields[i]
		fmt.Fprintf(&b, "  --%s %s\n", cleantext.Line(command.FlagName(f.Name, own)), flagValue(f))
		if text := describeParameter(f); text != "" {
			fmt.Fprintf(&b, "      %s\n", text)
		}
	}
	fmt.Fprintf(&b, "\n\"%s %s --help\" lists the other flags.\n", p.Command, verb)
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

// sayShadowed tells which parameters were not given though flags of their names were: these
// are the command's own.
func sayShadowed(p *command.Program, fields askdata.Fields) {
	for i := range fields {
		name := fields[i].Name
		isGiven := func(f command.ValueFlag) bool { return strings.TrimPrefix(f.Name, "in-") == name }
		if slices.Contains(p.Values.Own, name) && !slices.ContainsFunc(p.Values.Flags, isGiven) {
			p.Messagef("--%s is a flag of %s; the parameter %s is --in-%s", name, p.Name, name, name)
		}
	}
}

// flagValue says what the value of a parameter is.
func flagValue(f *askdata.Field) string {
	switch {
	case f.Type == "boolean":
		return "(or --no-" + cleantext.Line(f.Name) + ")"
	case f.Type == "array" || runs.IsList(f):
		return "VALUE (can be repeated)"
	case f.Type == "":
		return "JSON"
	case len(f.Choices) > 0:
		return "VALUE"
	}
	return term.Placeholder(f)
}

// describeParameter says in a line what a parameter means, and which values it has.
func describeParameter(f *askdata.Field) string {
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
