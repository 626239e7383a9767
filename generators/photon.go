// Package generators is what the author of a photon imports. A photon is a
// tool: a Go function that yields events while it works, asks people questions
// in between (package ask) and returns a value.
//
//	type Greeting struct {
//		Name string `json:"name" title:"Who is it?" minLength:"1"`
//	}
//
//	var Hello = generators.New("hello", func(ctx context.Context, in Greeting, yield generators.Yield) (string, error) {
//		yield(generators.Status("thinking of something nice"))
//		return "Hello, " + in.Name, nil
//	}, nil)
//
// Underneath, a run is an iter.Seq2 of events; see [Photon.Run].
package generators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"
)

// Yield hands an event to whoever follows the run. It returns false when the
// run has stopped: then the generator should return. It may be called from
// several goroutines, and after the run's end, where it is false.
type Yield func(Event) bool

// Func is a generator. Returning ends the run with a value or an error; the
// error's text is shown to the person who started it.
type Func[In, Out any] func(ctx context.Context, in In, yield Yield) (Out, error)

// Options describe a photon. The zero value is fine.
type Options struct {
	Title       string // for people; the name, if empty
	Description string // for people and models

	ReadOnly    bool // changes nothing
	Destructive bool // may destroy something
	Idempotent  bool // a second run with the same input changes nothing more
	OpenWorld   bool // reaches out beyond this machine

	// Durable promises that code outside [Step] may run again, so that a run
	// can be taken up from its log after a restart.
	Durable bool
	// Version names the state of a durable photon's code, at most 128 bytes.
	// Change it when runs that wait can't go on with the new code: they fail
	// when they are taken up, before any of it runs. Runs that were started
	// without one go on as long as their calls are the same.
	Version string
	// TimeLimit bounds the time that a run may work. The time that it waits
	// for a person doesn't count. 0 is no limit.
	TimeLimit time.Duration
	// Task says whether the photon is called as a task: by a handle that is
	// asked for the result, while nothing is kept waiting (MCP, Tasks).
	Task TaskSupport
	// Forms are checks that registering the photon makes: ask.Fits[T] for each
	// T that it asks for with ask.Form.
	Forms []func() error
}

// A Photon is a tool. It is immutable and may be run many times at once.
type Photon struct {
	name    string
	options Options
	input   *Schema
	output  *Schema
	invoke  func(context.Context, json.RawMessage, Yield) (any, error)
	err     error // what Registry.Add will refuse it for
}

// New makes a photon of a generator. Its schemas come from In and Out; see
// [SchemaFor] for the struct tags. A nil opts is the zero Options. What is
// wrong with a photon (its name, a type without a schema) is reported by
// [Registry.Add].
func New[In, Out any](name string, fn Func[In, Out], opts *Options) *Photon {
	p := &Photon{name: name}
	if opts != nil {
		p.options = *opts
	}
	p.setError(checkName(name))
	if len(p.options.Version) > 128 {
		p.setError(errors.New("its version has more than 128 bytes"))
	}
	if fn == nil {
		p.setError(errors.New("it has no function"))
	}
	p.setSchema(SchemaFor[In]())(&p.input, "input")
	p.setSchema(inferSchema(reflect.TypeFor[Out](), true))(&p.output, "output")
	p.setError(p.options.Task.validate())
	for _, check := range p.options.Forms {
		p.setError(check())
	}
	p.invoke = func(ctx context.Context, args json.RawMessage, yield Yield) (any, error) {
		in, err := decodeArgs[In](args)
		if err != nil {
			return nil, err
		}
		return fn(ctx, in, yield)
	}
	return p
}

// setSchema sets one of the photon's schemas or notes why it can't.
func (p *Photon) setSchema(s *Schema, err error) func(to **Schema, what string) {
	return func(to **Schema, what string) {
		*to = s
		if err != nil {
			p.setError(fmt.Errorf("its %s has no schema: %w", what, err))
		} else if what == "input" && s.doc.Type != "object" {
			p.setError(fmt.Errorf("its input must be a struct or a map, not %q", s.doc.Type))
		}
	}
}

func (p *Photon) setError(err error) {
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("photon %q: %w", p.name, err)
	}
}

// Name is what the photon is called by.
func (p *Photon) Name() string { return p.name }

// Title is the photon's title, or else its name.
func (p *Photon) Title() string {
	if p.options.Title != "" {
		return p.options.Title
	}
	return p.name
}

// Options returns a copy of the photon's options.
func (p *Photon) Options() Options { return p.options }

// Input is the schema of the arguments.
func (p *Photon) Input() *Schema { return p.input }

// Output is the schema of the result; it accepts anything if Out is an
// interface, and null where encoding/json writes it: for nil slices, maps and
// pointers.
func (p *Photon) Output() *Schema { return p.output }

// Check holds arguments against the input schema, fills in its defaults, and
// returns them ready for Run. Nil or empty args are an empty object. The error
// is an [*InvalidError] with every violation, or what [Registry.Add] would say.
func (p *Photon) Check(args json.RawMessage) (json.RawMessage, error) {
	if p.err != nil {
		return nil, p.err
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return p.input.Check(args)
}

// Run executes the photon with arguments that [Photon.Check] returned. The
// sequence's last pair is the *[Result] or the error that ended the run; it comes
// when the generator and the goroutines that it started with [Go] have returned.
// The generator runs in the loop: breaking out of it makes yield false, cancels
// the context and waits for the generator to return. Breaking out, or a ctx that
// ends, is the only way to stop a run.
//
// The loop body may run on a goroutine of the generator, one at a time; its
// panic or runtime.Goexit reaches the goroutine that ranges all the same.
func (p *Photon) Run(ctx context.Context, args json.RawMessage) iter.Seq2[Event, error] {
	return func(body func(Event, error) bool) { p.Prepare(ctx, args).All(body) }
}

// Prepare returns an execution that [Run.All] begins and that [Run.Stop] or the
// end of ctx stops. One that is never begun takes up
// room until ctx ends.
func (p *Photon) Prepare(ctx context.Context, args json.RawMessage) *Run {
	r := &Run{photon: p, args: args}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	if ctx.Done() != nil {
		r.stopAfterFunc = context.AfterFunc(ctx, func() { r.Stop(context.Cause(ctx)) })
	}
	return r
}
