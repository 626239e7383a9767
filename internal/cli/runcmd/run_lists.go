package runcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term"
)

// listFlags say how a list is printed.
type listFlags struct {
	Output string `env:"-" default:"text" enum:"text,json" placeholder:"FORMAT" help:"A table as text, or json (default ${default})."`
}

// print prints rows, of which the first is the heading, or the list as JSON.
func (l *listFlags) print(p *command.Program, list any, rows [][]string) error {
	if l.Output == "json" {
		return command.PrintJSON(p, list)
	}
	_, err := fmt.Fprint(p.Stdout, term.Table(term.NewTerminal(p.Stdin, p.Stdout, p.Stderr, false), rows))
	return err
}

// nonNil returns an empty list for nil, which JSON would encode as null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Ps lists runs.
type Ps struct {
	All bool `env:"-" help:"Also list the runs that have ended."`

	listFlags
	connectFlags
}

// Help returns what --help says besides the flags.
func (*Ps) Help() string {
	return "The newest come first.\n\n    ${program} ps\n    ${program} ps --all --output json"
}

// Run lists the runs.
func (c *Ps) Run(ctx context.Context, p *command.Program) (err error) {
	conn, err := c.connect(ctx, p, readOnly, &command.LocalFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	list, err := conn.Runs(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"RUN", "PHOTON", "STATE", "STARTED", ""}}
	kept := []engine.Info{}
	for _, info := range list {
		if info.State.Ended() && !c.All {
			continue
		}
		kept = append(kept, info)
		rows = append(rows, []string{info.ID, info.Photon, describeState(&info), humanize.Ago(time.Since(info.Started)), describeRun(&info)})
	}
	return c.print(p, kept, rows)
}

// describeState returns the state of a run; why a question has no answer, if that ended it.
func describeState(info *engine.Info) string {
	if info.State == engine.Unanswered && info.Reason != "" {
		return string(info.Reason)
	}
	return string(info.State)
}

// describeRun says in a line what a run waits for, or why it has no result.
func describeRun(info *engine.Info) string {
	if len(info.Asks) > 0 && info.Asks[0].Question != nil && info.Parked == nil {
		return message.LineSaidBy(info.Asks[0].Question, info.Photon)
	}
	return cmp.Or(info.Pause(), info.Error)
}

// Asks lists open questions.
type Asks struct {
	listFlags
	connectFlags
}

// Help returns what --help says besides the flags.
func (*Asks) Help() string {
	return "The oldest come first. \"${program} answer ASK\" answers one.\n\n    ${program} asks\n    ${program} asks --output json"
}

// Run lists the questions.
func (c *Asks) Run(ctx context.Context, p *command.Program) (err error) {
	conn, err := c.connect(ctx, p, readOnly, &command.LocalFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	list, err := conn.Asks(ctx)
	if err != nil {
		return err
	}
	return c.print(p, nonNil(list), askRows(list))
}

// askRows returns the table of questions, with Beam's notes, and why nobody may answer one.
func askRows(list []engine.OpenAsk) [][]string {
	rows := [][]string{{"ASK", "PHOTON", "KIND", "ASKED", "DEADLINE", "QUESTION"}}
	for _, a := range list {
		if a.Question == nil {
			continue
		}
		deadline := ""
		if !a.Deadline.IsZero() {
			deadline = "in " + humanize.Duration(time.Until(a.Deadline))
		}
		text := message.LineSaidBy(a.Question, a.Photon)
		if a.Unanswerable {
			text += " · " + a.ExcludedReason()
		}
		for _, note := range a.Notes() {
			text += " · " + note
		}
		rows = append(rows, []string{a.ID, a.Photon, string(a.Question.Kind), humanize.Ago(time.Since(a.Since)), deadline, text})
	}
	return rows
}

// findRun returns the run whose id is, or begins with, what the command line says.
func findRun(ctx context.Context, conn *connection, id string) (engine.Info, error) {
	info, err := conn.Run(ctx, id)
	if !errors.Is(err, engine.ErrRunNotFound) {
		return info, err
	}
	list, err := conn.Runs(ctx)
	if err != nil {
		return info, err
	}
	var found []string
	for _, r := range list {
		if strings.HasPrefix(r.ID, id) {
			found = append(found, r.ID)
		}
	}
	switch {
	case len(found) == 1:
		return conn.Run(ctx, found[0])
	case len(found) > 1:
		return info, command.UsageErrorf("%d runs begin with %s: write more of the id", len(found), id)
	}
	return info, fmt.Errorf("there is no run %s", cleantext.Line(id))
}

// findListedAsk returns the question of an id, or of the beginning of its run's and its
// ordinal, if the person may answer it: it may be of a run that they can't see.
func findListedAsk(ctx context.Context, conn *connection, id string) (open engine.OpenAsk, found bool, err error) {
	if open, err = conn.Ask(ctx, id); !errors.Is(err, engine.ErrAskNotFound) {
		return open, true, err
	}
	run, seq, _ := runlog.SplitAskID(id)
	list, err := conn.Asks(ctx)
	if err != nil {
		return open, false, err
	}
	list = slices.DeleteFunc(list, func(a engine.OpenAsk) bool {
		_, n, _ := runlog.SplitAskID(a.ID)
		return n != seq || !strings.HasPrefix(a.Run, run)
	})
	if len(list) != 1 {
		return open, false, nil
	}
	open, err = conn.Ask(ctx, list[0].ID)
	return open, true, err
}

// findAsk returns the open question of an id, or the only one of a run.
func findAsk(ctx context.Context, conn *connection, id string) (engine.OpenAsk, error) {
	run, seq, isAsk := runlog.SplitAskID(id)
	if !isAsk {
		run = id
	} else if open, found, err := findListedAsk(ctx, conn, id); found || err != nil {
		return open, err
	}
	info, err := findRun(ctx, conn, run)
	switch {
	case err != nil:
		return engine.OpenAsk{}, err
	case isAsk:
		open, err := conn.Ask(ctx, runlog.AskID(info.ID, seq))
		if errors.Is(err, engine.ErrAskNotFound) {
			err = fmt.Errorf("the run %s has no question %d", info.ID, seq)
		}
		return open, err
	case len(info.Asks) == 1:
		return conn.Ask(ctx, info.Asks[0].ID)
	case len(info.Asks) == 0:
		return engine.OpenAsk{}, fmt.Errorf("the run %s has no open question: it is %s", info.ID, describeState(&info))
	}
	ids := make([]string, len(info.Asks))
	for i := range info.Asks {
		ids[i] = info.Asks[i].ID
	}
	return engine.OpenAsk{}, command.UsageErrorf("the run has several open questions: %s", humanize.List(ids, 10))
}
