package runcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/term"
)

// Answer answers one question.
type Answer struct {
	Ask string `arg:"" help:"The question's id, or the id of a run with one open question, or its beginning. Fields follow as flags: --FIELD VALUE."`

	JSON    string   `name:"json" env:"-" placeholder:"JSON" help:"The fields as a JSON object; @FILE reads a file, and - reads stdin. Flags take precedence."`
	File    []string `env:"-" sep:"none" type:"existingfile" placeholder:"PATH" help:"A file, for a question for files. Can be repeated."`
	Approve string   `env:"-" placeholder:"MODEL" help:"Send a request to a model to this one of the configured models, or to the best one, instead of answering it. With --json, the members systemPrompt, maxTokens, messages and standing change the request, or approve later ones, too, and call says which version of a changed request you approve."`
	Decline bool     `env:"-" help:"Decline the question: say no."`
	Dismiss bool     `env:"-" help:"Dismiss the question without choosing."`
	Plain   bool     `help:"Write lines only, redraw nothing, and ask line by line: for screen readers."`

	connectFlags
	command.LocalFlags
}

// Help returns what --help says besides the flags.
func (*Answer) Help() string {
	return `Without fields, a form asks for them in the terminal. A question with one field also takes it as --value.

    ${program} answer 7f3c.39 --value 7
    ${program} answer 7f3c --json '{"name": "Ada", "email": "ada@example.org"}'
    ${program} answer 7f3c --decline

A request to a model is answered with --text, in the model's place, or sent to a model with --approve; its reply is the answer. The page of the question also edits the messages, and shows the bytes that are sent: see docs/sampling.md.

If no Beam owns the data folder, the run continues in this process until it waits again or ends. Exit status: 0 if the answer is recorded, 1 if the question was settled before or its run is parked, 2 if the answer is not valid, 4 if nobody can be asked for it.`
}

// Validate checks the flags; kong calls it.
func (c *Answer) Validate() error {
	if c.Decline && c.Dismiss || c.Approve != "" && (c.Decline || c.Dismiss || c.File != nil) {
		return errors.New("--approve, --decline, --dismiss and --file exclude each other")
	}
	return errors.Join(c.connectFlags.Validate(), c.LocalFlags.CheckFlags())
}

// Run answers the question.
func (c *Answer) Run(ctx context.Context, p *command.Program) (err error) {
	conn, err := c.connect(ctx, p, runPhotons, &c.LocalFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.close()) }()
	open, err := findAsk(ctx, conn, c.Ask)
	if err != nil {
		return err
	}
	q := &term.Question{Question: open.Question, ID: open.ID, Key: open.Key, Photon: open.Photon, Deadline: open.Deadline, Lost: open.LostNote()}
	if q.Kind == askdata.KindSample {
		if d, err := conn.Models(ctx, q.ID); err == nil { // otherwise the person can still answer
			q.SetSampling(d)
		}
	}
	if p.Values.Help {
		return c.printQuestionHelp(p, conn, q)
	}
	if err := open.Refusal(); err != nil {
		return err
	}
	answer, err := c.answer(ctx, p, conn, q)
	if err != nil {
		return err
	}
	if err := c.record(ctx, p, conn, open.ID, answer); err != nil {
		return answerError(err)
	}
	if conn.local {
		return waitWhileRunning(ctx, conn, &open)
	}
	return nil
}

// record records an answer, or sends the request to a model.
func (c *Answer) record(ctx context.Context, p *command.Program, conn *connection, askID string, a runs.Answer) error {
	if a.Approve == nil {
		err := conn.Answer(ctx, askID, a)
		if err == nil {
			p.Messagef("answered %s", askID)
		}
		return err
	}
	err := conn.Approve(ctx, askID, *a.Approve)
	if err == nil {
		p.Messagef("sent %s to the model; its reply is the answer: %s", askID, conn.command(p, "follow", runOf(askID)))
	}
	return err
}

func runOf(askID string) string {
	run, _, _ := runlog.SplitAskID(askID)
	return run
}

// waitWhileRunning waits while the run of a question that was answered works in this
// process: until it waits again or ends, or ctx ends, which suspends it.
func waitWhileRunning(ctx context.Context, conn *connection, open *engine.OpenAsk) error {
	_, seq, _ := runlog.SplitAskID(open.ID)
	for _, err := range conn.Follow(ctx, open.Run, seq) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if info, err := conn.Run(ctx, open.Run); err != nil || info.State != engine.Running {
			return err
		}
	}
	return nil
}

// answerError returns the error of an answer: one that isn't valid is misuse.
func answerError(err error) error {
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid):
		text := "the answer is not valid:"
		for _, f := range invalid.Fields {
			text += "\n  " + driver.Sentence(f, "")
		}
		return command.UsageErrorf("%s", text)
	case errors.Is(err, engine.ErrSettled):
		return errors.New("the question has been settled in the meantime")
	}
	return err
}

// answer returns the answer that the flags give, or else the person.
func (c *Answer) answer(ctx context.Context, p *command.Program, conn *connection, q *term.Question) (runs.Answer, error) {
	base, err := readJSON(p, "--json", c.JSON)
	switch {
	case err != nil:
		return runs.Answer{}, err
	case c.Approve != "":
		return c.approval(p, base, q)
	case c.Decline:
		return runs.Answer{Action: askdata.Decline}, nil
	case c.Dismiss:
		return runs.Answer{Action: askdata.Cancel}, nil
	case c.File != nil:
		return runs.Answer{Action: askdata.Accept, Files: c.File}, nil
	case base == nil && len(p.Values.Flags) == 0:
		return c.askPerson(ctx, p, conn, q)
	}
	for i, f := range p.Values.Flags {
		if f.Name == "value" && len(q.Fields) == 1 {
			p.Values.Flags[i].Name = q.Fields[0].Name
		}
	}
	content, err := p.Values.Decode(q.Fields, base, "the question "+q.Key)
	return runs.Answer{Action: askdata.Accept, Content: content}, err
}

// bestModel stands for the model that suits a request best.
const bestModel = "best"

// approval returns the decision that sends the request to a model.
func (c *Answer) approval(p *command.Program, changes json.RawMessage, q *term.Question) (runs.Answer, error) {
	switch {
	case q.Kind != askdata.KindSample:
		return runs.Answer{}, command.UsageErrorf("--approve is for requests to models; this question is of the kind %s", q.Kind)
	case len(q.Models) == 0:
		return runs.Answer{}, command.UsageErrorf("--approve: no model is configured that can take the request (--models, where the photon runs)")
	case len(p.Values.Flags) > 0:
		return runs.Answer{}, command.UsageErrorf("--approve and %s exclude each other", p.Values.Flags[0])
	}
	d := &sampling.Decision{}
	if changes != nil {
		decoder := json.NewDecoder(bytes.NewReader(changes))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(d); err != nil {
			return runs.Answer{}, command.UsageErrorf("--json must be an object of the members systemPrompt, maxTokens, messages, review, standing and call, such as {\"maxTokens\": 500, \"standing\": {\"scope\": \"tool\", \"requests\": 5}}")
		}
	}
	if c.Approve != bestModel {
		d.Model = c.Approve
	}
	return runs.Answer{Action: askdata.Accept, Approve: d}, nil
}

// askPerson asks in the terminal.
func (c *Answer) askPerson(ctx context.Context, p *command.Program, conn *connection, q *term.Question) (runs.Answer, error) {
	flags := followFlags{showFlags: showFlags{Plain: c.Plain}}
	asker := flags.asker(p)
	if asker == nil {
		return runs.Answer{}, &command.ExitError{Status: exitUnanswered, Err: &term.UnansweredError{Question: q, Command: conn.command(p, "answer", q.ID)}}
	}
	screen := term.NewScreen(flags.terminal(p))
	rendered := term.NewView(screen).ShowEvidence(q)
	screen.Close()
	a, err := asker.Ask(ctx, q, nil)
	a.Rendered = rendered
	switch {
	case errors.Is(err, term.ErrInterrupted):
		err = &command.ExitError{Status: exitInterrupted}
	case errors.Is(err, term.ErrPostponed), errors.Is(err, term.ErrLeft):
		err = &command.ExitError{Status: exitUnanswered, Err: errors.New("the question stays open")}
	}
	return a, err
}

// printQuestionHelp prints which flags answer a question.
func (c *Answer) printQuestionHelp(p *command.Program, conn *connection, q *term.Question) error {
	about := message.SaidBy(q.Question, q.Photon)
	if len(q.Models) > 0 {
		about += "\nAnswer in the model's place, or send the request with --approve MODEL:"
		for _, m := range q.Models {
			about += "\n  " + m.Name
		}
		if q.Stands.Changes != "" {
			about += fmt.Sprintf("\nThis version of the request is sent with --json '{\"call\": %d}'. %s\n%s", q.Stands.Call+1, term.ChangedNote(q.Stands.ChangedBy), q.Stands.Changes)
		}
	}
	return printFields(p, "Usage: "+conn.command(p, "answer", q.ID)+" [FLAGS]", about, "Fields", "answer", q.Fields)
}
