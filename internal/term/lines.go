package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runs"
)

// Lines asks line by line, for screen readers. A line that begins with a colon leaves the
// question: ":decline", ":dismiss", ":later" or ":leave".
type Lines struct {
	terminal *Terminal
	lines    chan string // what is typed; closed at the end of the input
}

var _ Asker = (*Lines)(nil)

// NewLines returns an asker that reads lines from a terminal.
func NewLines(t *Terminal) *Lines { return &Lines{terminal: t} }

// Ask implements [Asker].
func (l *Lines) Ask(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error) {
	if l.lines == nil {
		l.lines = make(chan string)
		go l.read()
	}
	v := newFieldValues(q, invalid)
	_, _ = io.WriteString(l.terminal.Err, q.heading(false, l.terminal.Width()))
	if invalid != nil {
		for _, f := range invalid.Fields {
			l.say("%s", cleantext.Line(f.Sentence("")))
		}
	}
	l.say("(Type :decline, :dismiss, :later or :leave instead of an answer.)")
	err := l.askFields(ctx, v)
	var left *leftError
	switch {
	case errors.As(err, &left):
		return left.answer, left.err
	case err != nil:
		return runs.Answer{}, err
	}
	return v.answer()
}

func (l *Lines) read() {
	defer close(l.lines)
	r := bufio.NewReader(l.terminal.In)
	for {
		line, err := r.ReadString('\n')
		if line != "" || err == nil {
			l.lines <- strings.TrimRight(line, "\r\n")
		}
		if err != nil {
			return
		}
	}
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

// readLine returns the next line.
func (l *Lines) readLine(ctx context.Context, prompt string) (string, error) {
	_, _ = fmt.Fprint(l.terminal.Err, prompt)
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(l.terminal.Err)
		return "", context.Cause(ctx)
	case line, ok := <-l.lines:
		if !ok {
			return "", &leftError{err: ErrLeft}
		}
		switch strings.TrimSpace(line) {
		case ":decline":
			return "", &leftError{answer: runs.Answer{Action: ask.Decline}}
		case ":dismiss":
			return "", &leftError{answer: runs.Answer{Action: ask.Cancel}}
		case ":later":
			return "", &leftError{err: ErrParked}
		case ":leave":
			return "", &leftError{err: ErrLeft}
		}
		return line, nil
	}
}

func (l *Lines) askFields(ctx context.Context, v *fieldValues) error {
	switch q := v.question; {
	case q.Kind == ask.KindFile:
		return l.askPaths(ctx, v)
	case len(q.Fields) == 0:
		prompt := "Accept? yes or no: "
		if q.Kind == ask.KindURL {
			prompt = "Open it? yes or no: "
		}
		yes, err := l.askYesNo(ctx, prompt, true)
		v.consent = yes
		return err
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

func (l *Lines) askYesNo(ctx context.Context, prompt string, otherwise bool) (bool, error) {
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
			return otherwise, nil
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
		value, err := l.askYesNo(ctx, fmt.Sprintf("%s yes (%s) or no (%s): ", cleantext.Line(v.title(f)), cleantext.Line(yes), cleantext.Line(no)), v.bools[i])
		v.bools[i] = value
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
	case f.Format == ask.FormatSecret:
		return l.readSecret(ctx, prompt+" (hidden): ")
	case f.Type == "array":
		prompt += " Numbers, separated by commas"
	case len(f.Choices) > 0:
		prompt += " Number"
	case f.Format == ask.FormatLong:
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

func chosen(f *ask.Field, text string) string {
	if len(f.Choices) == 0 {
		return text
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.Choices) {
		return f.Choices[n-1].Value
	}
	return normalizeTexts(f, []string{text})[0]
}
