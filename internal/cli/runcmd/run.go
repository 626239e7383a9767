// Package runcmd has the commands for runs: they run and list photons, follow runs, and answer
// their questions, in this process or of another Beam.
package runcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/term"
)

// Run runs a photon.
type Run struct {
	Photon string `arg:"" help:"The photon. Its parameters follow as flags; \"${program} run PHOTON --help\" lists them."`
	JSON   string `name:"json" env:"-" placeholder:"JSON" help:"Parameters as a JSON object; @FILE reads a file, and - reads stdin. Flags take precedence."`
	Detach bool   `env:"-" help:"Print the run's id and leave it to the Beam that runs it."`
	Memory bool   `help:"Run it in this process and store nothing."`

	followFlags
	connectFlags
	command.LocalFlags
}

// Help returns what --help says besides the flags.
func (*Run) Help() string {
	return `In a terminal, the run's events are shown and its questions are asked; Esc leaves a question, Ctrl-C stops the run, and a second Ctrl-C leaves at once. Without a terminal, answers come from --answer, --answers or --answers-from.

    ${program} run ${photon} --help
    ${program} run countdown --seconds 3
    ${program} run book_dinner --json '{"date": "2026-12-31", "time": "19:30"}' --answer partySize=2
    ${program} run kitchen_sink --ask confirm --answer confirm=yes --no-input

The photon runs in the Beam that owns the data folder, such as ${program} serve; if there is none, in this process; with --server, in the Beam at that address; and with --memory, always in this process.

The result is written to stdout, and all else to stderr. Exit status: 0 completed, 1 failed, 2 wrong command line, 3 declined or dismissed, 4 a question has no answer, 5 not answered in time, 130 stopped or interrupted.`
}

// Validate checks the flags; kong calls it.
func (c *Run) Validate() error {
	switch {
	case c.Memory && (c.Server != "" || c.Data != ""):
		return errors.New("--memory excludes --server and --data (or the variables BEAM_SERVER and BEAM_DATA)")
	case c.Memory && c.Detach:
		return errors.New("--memory excludes --detach: the run ends with this process")
	case c.Detach && c.hasAnswers():
		return fmt.Errorf("--detach leaves the run before it asks anything, so that %s would not be used: leave --detach out, or answer with the command answer", c.answerFlags())
	}
	return errors.Join(c.connectFlags.Validate(), c.LocalFlags.CheckFlags())
}

// Run runs the photon.
func (c *Run) Run(ctx context.Context, p *command.Program) (err error) {
	if p.Values.Help {
		return c.printHelp(ctx, p)
	}
	conn, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	photon, err := conn.Photon(ctx, c.Photon)
	if errors.Is(err, engine.ErrPhotonNotFound) {
		return unknownPhotonError(ctx, p, conn, c.Photon)
	}
	if err != nil {
		return err
	}
	if c.Detach && conn.local {
		return errors.New("--detach needs a Beam that runs the photon when this process has ended: start one with " + p.Command + " serve, or name one with --server")
	}
	fields, err := photon.Fields()
	if err != nil {
		return err
	}
	sayShadowed(p, fields)
	args, missing, err := c.arguments(ctx, p, photon, fields)
	if err != nil {
		return err
	}
	prepared, err := c.prepare(ctx, p, conn)
	if err != nil {
		return err
	}
	id, err := conn.Start(ctx, photon.Name, args)
	for invalid := (*generators.InvalidError)(nil); len(missing) > 0 && errors.As(err, &invalid); { // which the person can mend
		if args, err = askArguments(ctx, c.asker(p), photon, toMend(fields, missing, invalid, args), args, invalid); err != nil {
			return err
		}
		id, err = conn.Start(ctx, photon.Name, args)
	}
	if err != nil {
		return startError(photon.Name, err)
	}
	if c.Detach {
		_, err := fmt.Fprintln(p.Stdout, id)
		return err
	}
	return c.follow(ctx, p, conn, following{id: id, photon: photon.Name, durable: photon.Durable, prepared: prepared, stops: true})
}

func (c *Run) open(ctx context.Context, p *command.Program) (*connection, error) {
	if c.Memory {
		return openMemory(ctx, p, &c.LocalFlags)
	}
	return c.connect(ctx, p, runPhotons, &c.LocalFlags)
}

// printHelp prints the help of a photon.
func (c *Run) printHelp(ctx context.Context, p *command.Program) error {
	source := &photonSource{connectFlags: c.connectFlags, memory: c.Memory, mcpConfig: c.MCPConfig}
	photon, err := source.find(ctx, p, c.Photon)
	if err != nil {
		return err
	}
	return printPhotonHelp(p, photon)
}

// arguments returns the photon's arguments: the flags, over --json. In a terminal, it asks
// for the required ones that are missing, and returns which were.
func (c *Run) arguments(ctx context.Context, p *command.Program, photon runs.Photon, fields askdata.Fields) (_ json.RawMessage, missing askdata.Fields, err error) {
	base, err := readJSON(p, "--json", c.JSON)
	if err != nil {
		return nil, nil, err
	}
	args, err := p.Values.Decode(fields, base, photon.Name)
	if err != nil {
		return nil, nil, err
	}
	asker := c.asker(p)
	if missing = missingFields(fields, args); len(missing) == 0 || asker == nil {
		return args, nil, nil
	}
	args, err = askArguments(ctx, asker, photon, missing, args, nil)
	return args, missing, err
}

// toMend returns the fields that were asked for and those that are wrong, with their values
// as defaults.
func toMend(fields, asked askdata.Fields, invalid *generators.InvalidError, values json.RawMessage) askdata.Fields {
	var shown askdata.Fields
	for _, f := range fields {
		path := driver.At(f.Name, "").Path
		isWrong := func(e generators.FieldError) bool { return e.Path == path || strings.HasPrefix(e.Path, path+"/") }
		if asked.Field(f.Name) != nil || slices.ContainsFunc(invalid.Fields, isWrong) {
			f.Default = rawjson.Member(values, f.Name)
			shown = append(shown, f)
		}
	}
	return shown
}

// askArguments asks for missing arguments, and shows what was wrong with the previous ones.
func askArguments(ctx context.Context, asker term.Asker, photon runs.Photon, missing askdata.Fields, args json.RawMessage, invalid *generators.InvalidError) (json.RawMessage, error) {
	q := &term.Question{Question: &askdata.Question{Kind: askdata.KindForm, Message: photon.Title, Fields: missing}, Key: photon.Name, Ends: true, CheckJSON: photon.CheckParameter()}
	a, err := asker.Ask(ctx, q, invalid)
	switch {
	case errors.Is(err, term.ErrInterrupted):
		return nil, &command.ExitError{Status: exitInterrupted}
	case err != nil || a.Action != askdata.Accept:
		return nil, &command.ExitError{Status: exitDeclined, Err: errors.New("nothing was started")}
	}
	var members, more map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(args, &members), json.Unmarshal(a.Content, &more)); err != nil {
		return nil, err
	}
	maps.Copy(members, more)
	return json.Marshal(members)
}

// startError returns the error of a start: arguments that are not valid are misuse.
func startError(photon string, err error) error {
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	text := fmt.Sprintf("the parameters of %s are not valid:", photon)
	for _, f := range invalid.Fields {
		text += "\n  " + driver.Sentence(f, "")
	}
	return command.UsageErrorf("%s", text)
}
