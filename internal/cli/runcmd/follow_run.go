package runcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term"
)

// followFlags say how a run is shown, and how its questions are answered.
type followFlags struct {
	Answer      []string `env:"-" sep:"none" placeholder:"KEY=VALUE" help:"Answer the question of this key; KEY.FIELD=VALUE answers a field of a form. Can be repeated, also for the values of a list."`
	Approve     []string `env:"-" sep:"none" placeholder:"KEY" help:"Send the request to a model of this key, to the model that suits it best; KEY=MODEL names one. Can be repeated."`
	Decline     []string `env:"-" sep:"none" placeholder:"KEY" help:"Decline the question of this key. Can be repeated."`
	Answers     string   `env:"-" placeholder:"FILE" help:"Answers as a JSON object by key; null declines. - reads stdin."`
	AnswersFrom string   `env:"-" placeholder:"RUN" help:"Answer as in an earlier run. Secrets and files are not taken from it."`
	NoInput     bool     `help:"Never ask in the terminal."`
	showFlags
}

// showFlags say how a run is shown.
type showFlags struct {
	Output  string `env:"-" default:"text" enum:"text,json,jsonl" placeholder:"FORMAT" help:"The result as text or json; or every event as it comes, as jsonl (default ${default})."`
	Quiet   bool   `help:"Show no events."`
	Verbose bool   `help:"Also show log lines of level debug."`
	Plain   bool   `help:"Write lines only, redraw nothing, and ask line by line: for screen readers."`
}

// Exit statuses of commands that follow a run, besides those of package outcome.
const (
	exitDeclined    = 3
	exitUnanswered  = 4
	exitInterrupted = 130
)

// terminal returns the program's terminal.
func (c *showFlags) terminal(p *command.Program) *term.Terminal {
	return term.NewTerminal(p.Stdin, p.Stdout, p.Stderr, c.Plain)
}

// asker returns who asks the person; nil if nobody can be asked.
func (c *followFlags) asker(p *command.Program) term.Asker {
	t := c.terminal(p)
	if c.NoInput || !t.Interactive() {
		return nil
	}
	if t.Plain {
		return term.NewLines(t)
	}
	return &term.Forms{Terminal: t}
}

// following is a run to be followed.
type following struct {
	id, photon string
	durable    bool
	prepared   *term.Prepared
	known      uint64 // the last entry when following began
	stops      bool   // Ctrl-C stops the run
	watch      bool   // nothing is answered
}

// follow follows a run to its end, and prints its result. The error says the exit status.
func (c *followFlags) follow(ctx context.Context, p *command.Program, conn *connection, f following) error {
	ends := conn.memory || conn.local && !f.durable
	session := &term.Session{
		Runs: conn, Prepared: f.prepared, Watch: f.watch, Known: f.known, Ends: ends, StopOnInterrupt: f.stops,
	}
	if !f.watch {
		session.Asker = c.asker(p)
	}
	t := c.terminal(p)
	lines := c.Output == "jsonl"
	if lines {
		session.Each = func(batch []runlog.Entry) error { return writeEntries(p, batch) }
	}
	var screen *term.Screen
	if !c.Quiet && (!lines || t.Interactive()) {
		screen = term.NewScreen(t)
		session.View = term.NewView(screen)
		session.View.Verbose = c.Verbose
	} else if session.Asker != nil {
		screen = term.NewScreen(t)
		session.View = term.NewView(screen)
		session.View.OnlyQuestions = true
	}
	if !conn.memory {
		session.HowToAnswer = func(askID string) string { return conn.command(p, "answer", askID) }
	}
	finished, err := session.Follow(ctx, f.id)
	if screen != nil {
		screen.Close()
	}
	if f.prepared != nil {
		for _, key := range f.prepared.Unused() {
			p.Messagef("no question had the key %s", key)
		}
	}
	if err != nil {
		return c.followError(p, conn, f, ends, err)
	}
	if finished.ResultBlob != "" && c.Output != "jsonl" {
		if finished.Result, err = conn.Result(ctx, f.id); err != nil {
			return err
		}
	}
	return c.printOutcome(p, t, finished)
}

// writeEntries writes entries as JSON lines.
func writeEntries(p *command.Program, batch []runlog.Entry) error {
	var b bytes.Buffer
	for _, e := range batch {
		e, ok := e.Public()
		if !ok {
			continue
		}
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return p.WriteJSON(b.Bytes())
}

// followError returns the error with which following a run ended before the run did, and
// ends a run that can't outlive this process.
func (c *followFlags) followError(p *command.Program, conn *connection, f following, ends bool, err error) error {
	var unanswered *term.UnansweredError
	var invalid *term.InvalidAnswerError
	fate := ""
	if ends {
		fate = "The run is ended, because nothing keeps it while it waits"
		if cancelErr := conn.Cancel(context.Background(), f.id); cancelErr != nil {
			p.Messagef("%s", cancelErr)
		}
	}
	switch {
	case errors.As(err, &unanswered):
		if !ends {
			fate = fmt.Sprintf("The run %s waits for it: %s", f.id, conn.command(p, "answer", unanswered.Question.ID))
		}
		return &command.ExitError{Status: exitUnanswered, Err: fmt.Errorf("%w\n%s", err, fate)}
	case errors.Is(err, engine.ErrParked):
		return &command.ExitError{Status: exitUnanswered, Err: err}
	case errors.As(err, &invalid):
		if !ends {
			fate = fmt.Sprintf("The run %s waits for another answer: %s", f.id, conn.command(p, "follow", f.id))
		}
		return command.UsageErrorf("%w\n%s", err, fate)
	case errors.Is(err, term.ErrLeft):
		if ends {
			return &command.ExitError{Status: exitUnanswered, Err: errors.New(fate)}
		}
		return &command.ExitError{Status: exitUnanswered, Err: fmt.Errorf("the run %s waits: %s", f.id, conn.command(p, "follow", f.id))}
	case errors.Is(err, term.ErrInterrupted):
		if !ends && !f.stops {
			p.Messagef("the run %s continues: %s", f.id, conn.command(p, "follow", f.id))
		}
		return &command.ExitError{Status: exitInterrupted}
	}
	return err
}

// printOutcome prints the result of a run, or says why it has none.
func (c *followFlags) printOutcome(p *command.Program, t *term.Terminal, f *runlog.Finished) error {
	o := outcome.Of(f)
	if o.IsError {
		text := cleantext.Text(outcome.TextForPeople(f))
		if text == "" {
			text = o.Label
		}
		return &command.ExitError{Status: o.ExitStatus, Err: errors.New(text)}
	}
	return c.printResult(p, t, f)
}

// printResult prints a result without what a terminal would obey, and for a person with
// colors; as JSON, a program gets it as it is.
func (c *showFlags) printResult(p *command.Program, t *term.Terminal, f *runlog.Finished) error {
	var text string
	isText := json.Unmarshal(f.Result, &text) == nil
	switch {
	case c.Output == "jsonl" || len(f.Result) == 0:
		return nil
	case c.Output == "text" && t.OutIsTerminal():
		_, err := fmt.Fprint(p.Stdout, term.RenderResult(t, f))
		return err
	case c.Output == "text" && string(f.Result) == "null":
		return nil
	case c.Output == "text" && isText:
		_, err := fmt.Fprintln(p.Stdout, cleantext.Text(text)) // it may still reach a terminal
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, f.Result, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return p.WriteJSON(b.Bytes())
}
