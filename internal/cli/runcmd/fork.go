package runcmd

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/engine"
)

// Fork forks a run.
type Fork struct {
	RunID string  `name:"run" arg:"" help:"The run's id, or its beginning."`
	Until *uint64 `env:"-" placeholder:"N" help:"The last entry of the run's log that counts, by its number (default: the newest)."`
	Input string  `env:"-" placeholder:"JSON" help:"Other parameters, all of them, as a JSON object; @FILE reads a file, and - reads stdin."`

	Detach bool `env:"-" help:"Print the new run's id and leave it to the Beam that runs it."`

	followFlags
	connectFlags
	command.LocalFlags
}

// Help returns what --help says besides the flags.
func (*Fork) Help() string {
	return `A new run of the same photon takes the recorded answers, and the outcomes of steps, which don't run again, as long as it makes the same calls. It asks and runs the rest: what the photon's code has changed, answers that are secrets or files, and all that follows an agreement to what can't be undone. "${program} logs RUN --output jsonl" prints the numbers of the entries. With --input, choose with --until a point before the first step or answer that depends on it: what is taken was found, or agreed to, with the old input. The new run is then followed, as by ${program} run.

    ${program} fork 7f3c --detach
    ${program} fork 7f3c --until 12 --input '{"env": "staging"}' --detach`
}

// Validate checks the flags; kong calls it.
func (c *Fork) Validate() error {
	if c.Detach && c.hasAnswers() {
		return fmt.Errorf("--detach leaves the run before it asks anything, so that %s would not be used", c.answerFlags())
	}
	return errors.Join(c.connectFlags.Validate(), c.LocalFlags.CheckFlags())
}

// Run forks the run.
func (c *Fork) Run(ctx context.Context, p *command.Program) (err error) {
	input, err := readJSON(p, "--input", c.Input)
	if err != nil {
		return err
	}
	conn, err := c.connect(ctx, p, runPhotons, &c.LocalFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	if c.Detach && conn.local {
		return errors.New("--detach needs a Beam that runs the photon when this process has ended: start one with " + p.Command + " serve, or name one with --server")
	}
	info, err := findRun(ctx, conn, c.RunID)
	if err != nil {
		return err
	}
	if c.Until != nil && *c.Until > info.LastSeq && *c.Until != math.MaxUint64 {
		return command.UsageErrorf("--until: %w", &engine.UntilError{Until: *c.Until, Last: info.LastSeq})
	}
	prepared, err := c.prepare(ctx, p, conn)
	if err != nil {
		return err
	}
	id, err := conn.Fork(ctx, info.ID, c.Until, input)
	if err != nil {
		return startError(info.Photon, err)
	}
	if c.Detach {
		_, err := fmt.Fprintln(p.Stdout, id)
		return err
	}
	return c.follow(ctx, p, conn, following{id: id, photon: info.Photon, durable: info.Durable, prepared: prepared, stops: true})
}
