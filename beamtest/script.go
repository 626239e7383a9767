package beamtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/driver"
)

// A Script has a response to each question, by the question's key. A key that a photon
// uses again gets a suffix, as everywhere in Beam: the first question is "name", the next
// "name#2", then "name#3" and so on. A script may have responses to questions that a
// photon doesn't ask. A nil Script has none.
type Script map[string]Response

// A Response settles a question. [Accept], [Decline], [Cancel] and [Fail] return one. The
// zero Response fails the test if the question is asked.
type Response struct {
	action askdata.Action
	value  any
	answer answer // set by Script.lookup
	err    error
	delay  time.Duration
	person generators.Caller // who responds; the zero Caller is who started the run
}

// Accept answers a question. The value is what asking returns:
//
//	ask.Text, Secret, Select         a string
//	ask.Confirm                      a bool
//	ask.Integer, Number              a number
//	ask.MultiSelect                  a []string
//	ask.Date, DateTime               a time.Time, or its text
//	ask.File, Files                  a File, or a []File
//	ask.Form[T]                      a T, or a map
//	ask.Sample                       the model's text, or an ask.SampleResult
//	ask.Roots                        a []ask.Root
//	ask.URL                          nil
//
// A value of nil leaves every field blank. A [json.RawMessage] is the content of the
// answer as an MCP client would send it: an object with a member for each field. A
// func(*Question) any is called with the question and returns one of these values,
// such as the first of the question's choices.
func Accept(value any) Response { return Response{action: askdata.Accept, value: value} }

// Decline declines to answer a question: asking returns [ask.ErrDeclined].
func Decline() Response { return Response{action: askdata.Decline} }

// Cancel dismisses a question: asking returns [ask.ErrCancelled].
func Cancel() Response { return Response{action: askdata.Cancel} }

// Fail ends a question without an answer: asking returns the error. In Beam, it is
// [ask.ErrTimeout] if the question expires, [ask.ErrUnsupported] if nobody can be asked,
// and [ask.ErrInvalid] after too many invalid answers. [Run] accepts any error.
func Fail(err error) Response {
	if err == nil {
		panic("beamtest.Fail needs an error")
	}
	return Response{err: err}
}

// After returns the response with a delay of d. If the question's timeout elapses first,
// or at the same time, the question expires instead. In a synctest bubble, the delay
// takes no time.
func (r Response) After(d time.Duration) Response {
	r.delay = d
	return r
}

// As returns the response as that of another person than who started the run, for a question
// that says who may answer; see [ask.From] and [ask.NotCaller]. The test fails if the person
// may not.
func (r Response) As(person generators.Caller) Response {
	r.person = person
	return r
}

// by returns who responds to a question of a run. The error is a *scriptError: that person
// may not answer.
func (r Response) by(key string, q *askdata.Question, starter generators.Caller) (generators.Caller, error) {
	who, by := audience.Of(q), r.person
	if by.ID == "" {
		by = starter
	}
	if r.err == nil && who != nil && !who.Admits(by, audience.Starter(starter), by.ID == starter.ID || by.HasRole(generators.RoleOperator)) {
		return by, &scriptError{fmt.Sprintf("the script responds to %q as %q, but the question is for %s. To respond as somebody else, add to the response:\n\t"+
			".As(generators.Caller{ID: %q, Roles: []string{%q}})", key, by.ID, who, "user:ada", "…")}
	}
	return by, nil
}

// A File is a file of an answer.
type File struct {
	Name    string
	Content []byte
	// MediaType is the media type that the person's browser would send. The default is
	// application/octet-stream.
	MediaType string
}

// A scriptError says what is wrong with a script.
type scriptError struct{ text string }

func (e *scriptError) Error() string { return e.text }

// lookup returns the response to a question, with its answer. The error is a
// *scriptError: the script has no response, or one that can't be a response to this kind
// of question.
func (s Script) lookup(key string, q *askdata.Question) (r Response, err error) {
	r = s[key]
	switch {
	case r.action == "" && r.err == nil:
		return r, s.unansweredError(key, q)
	case r.action == askdata.Accept:
		if r.answer, err = newAnswer(q, r.value); err != nil {
			return r, &scriptError{fmt.Sprintf("the script's answer to %q: %v", key, err)}
		}
	default:
		r.answer.Action = r.action
	}
	return r, nil
}

// unansweredError says how to answer a question.
func (s Script) unansweredError(key string, q *askdata.Question) error {
	has := "and the script is empty"
	if len(s) > 0 {
		has = "and the script only answers " + quoteList(slices.Sorted(maps.Keys(s)))
	}
	return &scriptError{fmt.Sprintf("the photon asked %q (%s: %s), %s. To answer it, add to the script:\n\t%q: %s,",
		key, q.Kind, q.Message, has, key, exampleResponse(q))}
}

func quoteList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, ", ")
}

// exampleResponse returns Go code for a response to a question.
func exampleResponse(q *askdata.Question) string {
	switch q.Kind {
	case askdata.KindFile:
		return `beamtest.Accept(beamtest.File{Name: "…", Content: []byte("…")})`
	case askdata.KindURL:
		return `beamtest.Accept(nil)`
	case askdata.KindSample:
		return `beamtest.Accept("the model's text")`
	case askdata.KindRoots:
		return `beamtest.Accept([]ask.Root{{URI: "file:///…"}})`
	case askdata.KindForm:
		var fields []string
		for _, f := range q.Fields {
			if f.Required {
				fields = append(fields, fmt.Sprintf("%q: %s", f.Name, exampleValue(f)))
			}
		}
		return "beamtest.Accept(map[string]any{" + strings.Join(fields, ", ") + "})"
	}
	return "beamtest.Accept(" + exampleValue(q.Fields[0]) + ")"
}

// exampleValue returns Go code for a value of a field.
func exampleValue(f askdata.Field) string {
	text := "…"
	switch {
	case len(f.Choices) > 0:
		text = f.Choices[0].Value
	case f.Format == "date":
		text = "2026-12-31"
	case f.Format == "date-time":
		text = "2026-12-31T12:00:00Z"
	}
	switch f.Type {
	case "boolean":
		return "true"
	case "integer", "number":
		return "1"
	case "array":
		return fmt.Sprintf("[]string{%q}", text)
	}
	return fmt.Sprintf("%q", text)
}

// WithCaller returns a context for [RunContext] in which a caller starts the run; see
// [generators.CallerOf].
func WithCaller(ctx context.Context, c generators.Caller) context.Context {
	return driver.WithCaller(ctx, c)
}

// WithRoot returns a context for [RunContext], or for the context of a test, in which photons
// may read the folder dir; see [generators.Root].
func WithRoot(ctx context.Context, dir string) context.Context { return driver.WithRoot(ctx, dir) }
