// Package command has what the commands share: the program as they see it, its errors and
// exit statuses, the flags of several commands, and the way to a data folder and its owner.
package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/term"
)

// Exit statuses.
const (
	ExitOK     = 0
	ExitFailed = 1 // the command failed
	ExitUsage  = 2 // the command line, a photon, or the file of models is wrong
)

// A UsageError is an error in the command line or in a photon.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// UsageErrorf returns a [UsageError], with a text as that of [fmt.Errorf].
func UsageErrorf(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// An ExitError ends the program with a status. Err is printed, unless it is nil.
type ExitError struct {
	Status int
	Err    error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}
func (e *ExitError) Unwrap() error { return e.Err }

// A Program is the process as commands see it: its name, photons and standard
// streams.
type Program struct {
	Name           string
	Command        string // how a shell starts it
	Registry       *registry.Registry
	Parser         *kong.Kong
	Values         ValueArguments // of commands that take them
	Stdin          *os.File
	bar            *term.Bar
	Stdout, Stderr io.Writer
}

// Messagef prints a message for the user to stderr.
func (p *Program) Messagef(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name, cleantext.Text(fmt.Sprintf(format, args...))) // tools say some of it
}

// WriteJSON writes JSON to stdout: as it is for a program, and without what a terminal would
// obey for a person.
func (p *Program) WriteJSON(raw []byte) error {
	if term.IsTerminal(p.Stdout) {
		raw = []byte(cleantext.Text(string(raw)))
	}
	_, err := p.Stdout.Write(raw)
	return err
}

// PrintJSON prints a value as indented JSON.
func PrintJSON(p *Program, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return p.WriteJSON(b.Bytes())
}

// QuoteWord returns a word as it is written in a shell.
func QuoteWord(word string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,~", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
