package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/photon-beam/beam/internal/cli/command"
)

// commandGroups are the purposes of commands, in the order in which --help lists them. A
// command names its group in the tag of its field of commandLine.
var commandGroups = []kong.Group{
	{Key: "run", Title: "Run photons and answer"},
	{Key: "serve", Title: "Serve and connect"},
	{Key: "data", Title: "Look after data and program"},
}

// manualExamples and manualNotes surround the commands in --help.
const (
	manualExamples = `  ${program}                      the playground on http://127.0.0.1:3008
  ${program} --open               the same, opened in the browser, signed in
`
	manualNotes = `Each flag is also a variable, as BEAM_ADDR is for --addr. All programs made with
Beam share the data in $XDG_STATE_HOME/beam, or else ~/.local/state/beam.
Times: 90s, 15m, 12h, 7d, 2w. Sizes: 500MB. Exit status: 1 failure, 2 misuse.
`
)

// printHelp prints the manual of one command, or the list of all.
func (p *process) printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if c := ctx.Selected(); c != nil && len(ctx.Args) > 0 && topCommand(c).Name == ctx.Args[0] {
		command.HideRareFlags(c)
		return kong.DefaultHelpPrinter(options, ctx)
	}
	var b strings.Builder
	b.WriteString("Usage: ${program} [COMMAND] [FLAGS]\nBeam runs tools that stop to ask: photons. \"${program} COMMAND --help\" is a manual.\n\n")
	b.WriteString(manualExamples)
	for _, g := range append(commandGroups, kong.Group{Title: "More"}) {
		title := "\n" + g.Title + "\n"
		for _, c := range ctx.Model.Children {
			if key := groupOf(c); key == g.Key && !c.Hidden {
				help, _, _ := strings.Cut(c.Help, ". ")
				fmt.Fprintf(&b, "%s  %-12s %s\n", title, c.Name, strings.TrimSuffix(help, "."))
				title = ""
			}
		}
	}
	b.WriteString("\n" + manualNotes)
	_, err := strings.NewReplacer("${program}", p.Name).WriteString(ctx.Stdout, b.String())
	return err
}

// topCommand returns the command that a command is, or is below.
func topCommand(c *kong.Node) *kong.Node {
	for c.Parent != nil && c.Parent.Type != kong.ApplicationNode {
		c = c.Parent
	}
	return c
}

// groupOf returns the key of a command's group.
func groupOf(c *kong.Node) string {
	if c.Group == nil {
		return ""
	}
	return c.Group.Key
}
