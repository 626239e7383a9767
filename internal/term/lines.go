package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/muesli/cancelreader"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runs"
)

// Lines asks line by line, for screen readers. A line that begins with a colon leaves the
// question: ":decline", ":dismiss", ":later" or ":leave".
type Lines struct {
	terminal *Terminal
	guard    guard
}

var _ Asker = (*Lines)(nil)

// NewLines returns an asker that reads lines from a terminal.
func NewLines(t *Terminal) *Lines { return &Lines{terminal: t} }

// Ask implements [Asker].
func (l *Lines) Ask(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error) {
	v := newFieldValues(q, invalid)
	early := discardInput(l.terminal.In.Fd())
	_, _ = io.WriteString(l.terminal.Err, q.heading(false, l.terminal.Width()))
	if invalid != nil {
		for _, f := range invalid.Fields {
			l.say("%s", cleantext.Line(driver.Sentence(f, "")))
		}
	}
	l.say("(Type :decline, :dismiss, :later or :leave instead of an answer.)")
	if wait := l.guard.wait(q); wait > 0 {
		select {
		case <-ctx.Done():
			return runs.Answer{}, context.Cause(ctx)
		case <-time.After(wait):
		}
		early = discardInput(l.terminal.In.Fd()) || early
	}
	if early {
		l.say(tooEarly)
	}
	err := l.askFields(ctx, v)
	var left *leftError
	switch {
	case errors.As(err, &left):
		return left.answer, left.err
	case err != nil:
		return runs.Answer{}, err
	}
	l.guard.answered = time.Now()
	return v.answer()
}

func (l *Lines) say(format string, args ...any) {
	_, _ = fmt.Fprintf(l.terminal.Err, format+"\n", args...)
}

// A leftError is what the person does with a question instead of answering it.
type leftError struct {
	answer runs.Answer
	err    error
}

func (e *leftError) Error() string { return "the question was left" }

// readLine returns the next line. Nothing is read from the terminal between calls, so that
// what is typed too early can be discarded.
func (l *Lines) readLine(ctx context.Context, prompt string) (string, error) {
	_, _ = fmt.Fprint(l.terminal.Err, prompt)
	r, err := cancelreader.NewReader(l.terminal.In)
	if err != nil {
		return "", err
	}
	defer r.Close()
	stop := context.AfterFunc(ctx, func() { r.Cancel() })
	defer stop()
	line, err := bufio.NewReader(r).ReadString('\n') // a terminal returns no more than a line
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(l.terminal.Err)
		return "", context.Cause(ctx)
	case err != nil && line == "":
		return "", &leftError{err: ErrLeft}
	}
	line = strings.TrimRight(line, "\r\n")
	switch strings.TrimSpace(line) {
	case ":decline":
		return "", &leftError{answer: runs.Answer{Action: askdata.Decline}}
	case ":dismiss":
		return "", &leftError{answer: runs.Answer{Action: askdata.Cancel}}
	case ":later":
		return "", &leftError{err: ErrPostponed}
	case ":leave":
		return "", &leftError{err: ErrLeft}
	}
	return line, nil
}

func (l *Lines) askFields(ctx context.Context, v *fieldValues) error {
	if lines := v.question.does().lines; lines != nil {
		return lines(l, ctx, v)
	}
	if len(v.question.Fields) == 0 {
		return l.askConsent(ctx, v, "Accept? yes or no: ")
	}
	if v.approval != nil {
		if err := l.askApproval(ctx, v.approval); err != nil || v.approval.choice != choiceAnswer {
			return err
		}
	}
	for i := range v.question.Fields {
		if err := l.askField(ctx, v, i); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lines) askPaths(ctx context.Context, v *fieldValues) error {
	for {
		line, err := l.readLine(ctx, "Path of a file (an empty line ends the list): ")
		if err != nil {
			return err
		}
		if line != "" {
			v.path += line + "\n"
		}
		if line == "" || v.question.File.Max == 1 {
			return nil
		}
	}
}

func (l *Lines) askURL(ctx context.Context, v *fieldValues) error {
	if v.question.UntilDone {
		return l.askConsent(ctx, v, "Are you done there? yes or no: ")
	}
	return l.askConsent(ctx, v, "Continue, whether or not you have opened it? yes or no: ")
}

func (l *Lines) askConsent(ctx context.Context, v *fieldValues, prompt string) error {
	yes, err := l.askYesNo(ctx, prompt, nil)
	v.setConsent(yes)
	return err
}

// askYesNo asks for a yes or a no; an empty line is otherwise, unless that is nil.
func (l *Lines) askYesNo(ctx context.Context, prompt string, otherwise *bool) (bool, error) {
	for {
		line, err := l.readLine(ctx, prompt)
		if err != nil {
			return false, err
		}
		switch normalizeBool(strings.TrimSpace(line)) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		case "empty":
			if otherwise != nil {
				return *otherwise, nil
			}
		}
		l.say("Type yes or no.")
	}
}

// askField asks for the value of a field until it is valid.
func (l *Lines) askField(ctx context.Context, v *fieldValues, i int) error {
	f := &v.question.Fields[i]
	if text := cleantext.Text(f.Description); text != "" {
		l.say("%s", text)
	}
	if f.Type == "boolean" {
		yes, no := "yes", "no"
		if form.IsConfirmation(v.question.Question) {
			yes, no = form.ConfirmLabels(v.question.Question)
		}
		otherwise := &v.bools[i]
		if v.question.isGuarded() {
			otherwise = nil
		}
		value, err := l.askYesNo(ctx, fmt.Sprintf("%s yes (%s) or no (%s): ", cleantext.Line(v.title(f)), cleantext.Line(yes), cleantext.Line(no)), otherwise)
		v.bools[i] = value
		v.setConsent(value)
		return err
	}
	for n, c := range f.Choices {
		l.say("  %d. %s", n+1, cleantext.Line(c.Label()))
	}
	for {
		line, err := l.readValue(ctx, v, i)
		if err != nil {
			return err
		}
		if line != "" {
			v.setLine(i, line)
		}
		if err := v.check(i); err == nil {
			return nil
		} else {
			l.say("This %s.", err)
		}
	}
}

// readValue reads the line, or the lines, of a field. A secret is not shown.
func (l *Lines) readValue(ctx context.Context, v *fieldValues, i int) (string, error) {
	f := &v.question.Fields[i]
	prompt := cleantext.Line(v.title(f))
	switch {
	case f.Format == askdata.FormatSecret:
		return l.readSecret(ctx, prompt+" (hidden): ")
	case f.Type == "array":
		prompt += " Numbers, separated by commas"
	case len(f.Choices) > 0:
		prompt += " Number"
	case f.Format == askdata.FormatLong:
		return l.readText(ctx, prompt+" Several lines; a dot alone ends them:\n")
	}
	if len(v.texts[i]) > 0 && f.Type != "array" {
		prompt += " [" + cleantext.Line(v.texts[i]) + "]"
	}
	return l.readLine(ctx, strings.TrimSpace(prompt)+": ")
}

func (l *Lines) readText(ctx context.Context, prompt string) (string, error) {
	var lines []string
	for {
		line, err := l.readLine(ctx, prompt)
		if err != nil {
			return "", err
		}
		if line == "." {
			return strings.Join(lines, "\n"), nil
		}
		lines, prompt = append(lines, line), ""
	}
}

// readSecret turns the terminal's echo off while it reads a line.
func (l *Lines) readSecret(ctx context.Context, prompt string) (string, error) {
	restore, err := hideInput(l.terminal.In.Fd())
	if err != nil {
		return "", err
	}
	defer restore()
	line, err := l.readLine(ctx, prompt)
	_, _ = io.WriteString(l.terminal.Err, "\n")
	return line, err
}

// setLine sets the value of a field to a line: choices are chosen by number, by value or by
// label.
func (v *fieldValues) setLine(i int, line string) {
	f := &v.question.Fields[i]
	if f.Type == "array" {
		v.lists[i] = nil
		for part := range strings.SplitSeq(line, ",") {
			v.lists[i] = append(v.lists[i], chosen(f, part))
		}
		return
	}
	v.texts[i] = chosen(f, line)
}

func chosen(f *askdata.Field, text string) string {
	if len(f.Choices) == 0 {
		return text
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.Choices) {
		return f.Choices[n-1].Value
	}
	return normalizeTexts(f, []string{text})[0]
}
