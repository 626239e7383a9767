package command

import "github.com/alecthomas/kong"

// HelpOptions say how the manual of a command is printed.
var HelpOptions = kong.HelpOptions{WrapUpperBound: 100, ValueFormatter: kong.DefaultHelpValueFormatter}

// HelpAll is the flag --help-all of commands with many flags: it prints their manual with all
// of them. --help prints only those whose field has the tag common.
type HelpAll bool

// BeforeReset prints the manual; kong calls it.
func (HelpAll) BeforeReset(ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(HelpOptions, ctx); err != nil {
		return err
	}
	ctx.Exit(ExitOK)
	return nil
}

// HideRareFlags hides the flags of a command that only --help-all is to show, if it has that
// flag.
func HideRareFlags(c *kong.Node) {
	for _, all := range c.Flags {
		if all.Name != "help-all" {
			continue
		}
		for _, f := range c.Flags {
			if f != all && !f.Tag.Has("common") {
				f.Hidden = true
			}
		}
	}
}
