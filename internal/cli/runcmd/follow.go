package runcmd

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term"
)

// Follow follows a run.
type Follow struct {
	RunID string `name:"run" arg:"" help:"The run's id, or its beginning."`

	followFlags
	connectFlags
	command.LocalFlags
}

// Help returns what --help says besides the flags.
func (*Follow) Help() string {
	return `The run is shown from its beginning, its open questions are asked, and its result is printed, as by ${program} run. Ctrl-C leaves the run, which continues.

    ${program} follow 7f3c
    ${program} follow 7f3c --output jsonl --no-input

If no Beam owns the data folder, the run continues in this process.`
}

// Validate checks the flags; kong calls it.
func (c *Follow) Validate() error {
	return errors.Join(c.connectFlags.Validate(), c.LocalFlags.CheckFlags())
}

// Run follows the run.
func (c *Follow) Run(ctx context.Context, p *command.Program) (err error) {
	conn, err := c.connect(ctx, p, runPhotons, &c.LocalFlags)
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

// Logs prints what a run has done so far.
type Logs struct {
	RunID string `name:"run" arg:"" help:"The run's id, or its beginning."`

	Output  string `env:"-" default:"text" enum:"text,jsonl" placeholder:"FORMAT" help:"text, or jsonl: every entry of the run's log (default ${default})."`
	Verbose bool   `help:"Also show log lines of level debug."`

	connectFlags
}

// Help returns what --help says besides the flags.
func (*Logs) Help() string {
	return "The events, questions and answers of the run so far are printed, and how it ended. \"${program} follow\" waits for what comes next.\n\n    ${program} logs 7f3c\n    ${program} logs 7f3c --output jsonl"
}

// Run prints the run's log.
func (c *Logs) Run(ctx context.Context, p *command.Program) (err error) {
	conn, err := c.connect(ctx, p, readOnly, &command.LocalFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	info, err := findRun(ctx, conn, c.RunID)
	if err != nil {
		return err
	}
	out := *p
	out.Stderr = p.Stdout // the log is the output
	flags := followFlags{NoInput: true, showFlags: showFlags{Output: c.Output, Verbose: c.Verbose, Quiet: c.Output == "jsonl", Plain: true}}
	known := *conn
	known.beamRuns = untilEntry{conn.beamRuns, info.LastSeq}
	err = flags.follow(ctx, &out, &known, following{id: info.ID, watch: true})
	var exit *command.ExitError
	switch {
	case errors.Is(err, term.ErrStreamEnded):
		err = nil
	case errors.As(err, &exit):
		if exit.Err != nil {
			fmt.Fprintln(p.Stdout, exit.Err)
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

// Cancel stops runs.
type Cancel struct {
	Runs []string `arg:"" help:"The runs' ids, or their beginnings."`

	connectFlags
}

// Help returns what --help says besides the flags.
func (*Cancel) Help() string {
	return "The photon's context is canceled, its deferred functions run, and its open questions are withdrawn. Stopping a run that has ended is no error.\n\n    ${program} cancel 7f3c"
}

// Run stops the runs.
func (c *Cancel) Run(ctx context.Context, p *command.Program) (err error) {
	conn, err := c.connect(ctx, p, readOnly, &command.LocalFlags{})
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
			p.Messagef("%s has ended already: it is %s", info.ID, describeState(&info))
			continue
		}
		if err := conn.Cancel(ctx, info.ID); err != nil {
			return err
		}
		p.Messagef("stopped %s", info.ID)
	}
	return nil
}
