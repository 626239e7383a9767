package app

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/photon-beam/beam/internal/datafolder"
)

// signInCommand returns the command that prints an address which signs a browser in, or ""
// if there is none. It names the folder only if the command would not find it.
func (c *Config) signInCommand() string {
	if c.Program == "" || c.Identify != nil || c.Token != "" || c.People.Known() || c.Folder.Temporary {
		return ""
	}
	command := cmp.Or(c.Command, quoteForShell(c.Program)) + " open"
	if dir, err := datafolder.Resolve(""); err != nil || dir != c.Folder.Dir {
		command += " --data " + quoteForShell(c.Folder.Dir)
	}
	return command
}

// signInHint tells a model how its user signs in to the pages; "" if the program that
// serves Beam decides that.
func (c *Config) signInHint() string {
	switch command := c.signInCommand(); {
	case command != "":
		return "If the page asks the user to sign in, they run `" + command + "` in a terminal and open the address that it prints."
	case c.Program == "" || c.Identify != nil:
		return ""
	case c.People.Known():
		return "If the page asks the user to sign in, they do so as themselves."
	case c.Token != "":
		return "If the page asks the user for a token, it is the one that " + c.Program + " was started with."
	}
	return "If the page asks the user to sign in, they first open the sign-in address that " + c.Program + " wrote to its log when it started."
}

var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// quoteForShell returns a word as it is written in a shell.
func quoteForShell(word string) string {
	if shellSafe.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
