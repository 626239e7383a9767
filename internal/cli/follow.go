package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term"
)

// followCommand follows a run.
type followCommand struct {
	RunID string `name:"run" arg:"" help:"The run's id, or its beginning."`

	followFlags
	connectFlags
	localFlags
}

// Help returns what --help says besides the flags.
func (*followCommand) Help() string {
	return `The run is shown from its beginning, its open questions are asked, and its result is printed, as by ${program} run. Ctrl-C leaves the run, which continues.

    ${program} follow 7f3c
    ${program} follow 7f3c --output jsonl --no-input

If no Beam owns the data folder, the run continues in this process.`
}

// Validate checks the flags; kong calls it.
func (c *followCommand) Validate() error {
	return errors.Join(c.connectFlags.Validate(), c.localFlags.validate())
}

// Run follows the run.
func (c *followCommand) Run(ctx context.Context, p *program) (err error) {
	conn, err := c.connect(ctx, p, runPhotons, &c.localFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	info, err := findRun(ctx, conn, c.RunID)
	if err != nil {
		return err
	}
	prepared, err := c.prepare(ctx, p, conn)
	if err != nil {
		return err
	}
	return c.follow(ctx, p, conn, following{id: info.ID, photon: info.Photon, durable: info.Durable, prepared: prepared, known: info.LastSeq})
}

// logsCommand prints what a run has done so far.
type logsCommand struct {
	RunID string `name:"run" arg:"" help:"The run's id, or its beginning."`

	Output  string `env:"-" default:"text" enum:"text,jsonl" placeholder:"FORMAT" help:"text, or jsonl: every entry of the run's log (default ${default})."`
	Verbose bool   `help:"Also show log lines of level debug."`

	connectFlags
}

// Help returns what --help says besides the flags.
func (*logsCommand) Help() string {
	return "The events, questions and answers of the run so far are printed, and how it ended. \"${program} follow\" waits for what comes next.\n\n    ${program} logs 7f3c\n    ${program} logs 7f3c --output jsonl"
}

// Run prints the run's log.
func (c *logsCommand) Run(ctx context.Context, p *program) (err error) {
	conn, err := c.connect(ctx, p, readOnly, &localFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	info, err := findRun(ctx, conn, c.RunID)
	if err != nil {
		return err
	}
	out := *p
	out.stderr = p.stdout // the log is the output
	flags := followFlags{NoInput: true, showFlags: showFlags{Output: c.Output, Verbose: c.Verbose, Quiet: c.Output == "jsonl", Plain: true}}
	known := *conn
	known.beamRuns = untilEntry{conn.beamRuns, info.LastSeq}
	err = flags.follow(ctx, &out, &known, following{id: info.ID, watch: true})
	var exit *exitError
	switch {
	case errors.Is(err, term.ErrStreamEnded):
		err = nil
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(p.stdout, exit.err)
		}
		err = nil
	}
	return err
}

// untilEntry follows runs as far as an entry.
type untilEntry struct {
	beamRuns
	last uint64
}

func (u untilEntry) Follow(ctx context.Context, id string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if after >= u.last {
			return
		}
		for batch, err := range u.beamRuns.Follow(ctx, id, after) {
			if !yield(batch, err) || len(batch) > 0 && batch[len(batch)-1].Seq >= u.last {
				return
			}
		}
	}
}

// cancelCommand stops runs.
type cancelCommand struct {
	Runs []string `arg:"" help:"The runs' ids, or their beginnings."`

	connectFlags
}

// Help returns what --help says besides the flags.
func (*cancelCommand) Help() string {
	return "The photon's context is canceled, its deferred functions run, and its open questions are withdrawn. Stopping a run that has ended is no error.\n\n    ${program} cancel 7f3c"
}

// Run stops the runs.
func (c *cancelCommand) Run(ctx context.Context, p *program) (err error) {
	conn, err := c.connect(ctx, p, readOnly, &localFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	for _, id := range c.Runs {
		info, err := findRun(ctx, conn, id)
		if err != nil {
			return err
		}
		if info.State.Ended() {
			p.messagef("%s has ended already: it is %s", info.ID, describeState(&info))
			continue
		}
		if err := conn.Cancel(ctx, info.ID); err != nil {
			return err
		}
		p.messagef("stopped %s", info.ID)
	}
	return nil
}
