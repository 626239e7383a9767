// Package generators defines photons. A photon is a tool written as a Go function
// that yields events while it works, asks people questions (see package ask), and
// returns a value.
//
//	type Greeting struct {
//		Name string `json:"name" title:"Who is it?" minLength:"1"`
//	}
//
//	var Hello = generators.New("hello", func(ctx context.Context, in Greeting, yield generators.Yield) (string, error) {
//		yield(generators.Status("composing a greeting"))
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
	"regexp"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/call"
)

// Yield sends an event to the followers of the run. It returns false if the run has
// stopped or ended; the generator should then return. It may be called from several
// goroutines, and after the end of the run.
type Yield func(Event) bool

// Func is a generator. Returning ends the run with a value or an error. The person
// who started the run sees the text of the error.
type Func[In, Out any] func(ctx context.Context, in In, yield Yield) (Out, error)

// Options describe a photon. The zero value is valid.
type Options struct {
	Title       string // for people; the default is the name
	Description string // for people and models
	// Group is the heading that the first page lists the photon under, such as
	// "Examples". Photons without a group come first.
	Group string

	ReadOnly    bool // changes nothing
	Destructive bool // may destroy something
	Idempotent  bool // a second run with the same input changes nothing more
	OpenWorld   bool // reaches beyond this machine

	// Durable promises that code outside of [Step] may run again. Beam can then
	// evict a waiting run from memory, and resume it from its log by replay, also
	// after a restart.
	Durable bool
	// Version is the version of a durable photon's code, in at most 128 bytes.
	// Change it if waiting runs can't continue with the new code: they then fail
	// when they resume, before any code runs. Runs that started without a version
	// continue as long as their calls are the same.
	Version string
	// TimeLimit limits the working time of a run. Time spent waiting for an answer
	// doesn't count. 0 means no limit.
	TimeLimit time.Duration
	// Exclusive is nil or a func(In) string that returns a key for the run's input. Of
	// the photon's runs with the same key, whoever started them, one works at a time,
	// from its start until its Func has returned, even while it waits for an answer. The
	// others wait for it, in the order in which they were started. A run with the key ""
	// waits for none.
	// The key is shown to people, and has at most 256 bytes. The function may be called
	// from several goroutines at once.
	Exclusive any
	// Task controls whether MCP clients call the photon as a task, which returns a
	// handle at once (MCP, Tasks).
	Task TaskSupport
	// Allow returns an error for a caller who may not use the photon. It is then in
	// none of the caller's lists, and starting it fails as if it didn't exist. Nil
	// allows everybody. Beam calls Allow whenever it lists or starts the photon, from
	// several goroutines at once; it should be quick. Runs that have started go on.
	Allow func(Caller) error
	// Asks says that runs of the photon ask questions, or make artifacts. MCP clients
	// that show user interfaces in their chat (MCP Apps) then show each run there, with
	// its questions. Forms implies it.
	Asks bool
	// Examples are inputs, each a value of the type In or of one with the same JSON. The
	// photon's page offers to fill them in. They are public: give them no secrets.
	Examples []any
	// Forms are checks to run when the photon is registered: ask.Fits[T] for each T
	// that it asks for with ask.Form.
	Forms []func() error

	// Definition is the description of another server's tool, as it gave it (MCP, Tools,
	// Tool), for a photon of [FromSchema] that calls that tool. MCP clients get it
	// instead of a description that Beam makes of the schemas and the other options, but
	// under the photon's name. [Photon.Check] then leaves the arguments as they are, and
	// what the schema says of formats to the tool, but for email, uri, date and date-time.
	Definition json.RawMessage
}

// A Photon is a tool. It is immutable, and any number of its runs may execute at
// the same time.
type Photon struct {
	name    string
	options Options
	input   *Schema
	output  *Schema
	invoke  func(context.Context, json.RawMessage, Yield) (any, error)
	// exclusiveKey is nil without Options.Exclusive.
	exclusiveKey func(json.RawMessage) (string, error)
	err          error // why it can't be registered; returned by Check
}

// New returns a photon that runs a generator. It infers the schemas from In and
// Out; see [SchemaFor] for the struct tags. Nil opts are the zero Options. If the
// photon is invalid, because of its name or a type without a schema, for example, Beam
// refuses it when it starts, and [Photon.Check] returns the error.
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
	p.setError(setExclusive[In](p))
	p.setError(p.setExamples())
	p.invoke = func(ctx context.Context, args json.RawMessage, yield Yield) (any, error) {
		in, err := decodeArgs[In](args)
		if err != nil {
			return nil, err
		}
		return fn(ctx, in, yield)
	}
	return p
}

// namePattern is MCP's rule for tool names, except that it allows no slash, because
// names are parts of URL paths.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

func checkName(name string) error {
	if namePattern.MatchString(name) {
		return nil
	}
	return errors.New("a name must be 1 to 128 of the characters A-Z a-z 0-9 _ . - and must not begin with . or -")
}

// setSchema returns a function that sets one of the photon's schemas, or records
// the error.
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

// Name returns the name by which the photon is called.
func (p *Photon) Name() string { return p.name }

// Title returns the photon's title, or its name if it has no title.
func (p *Photon) Title() string {
	if p.options.Title != "" {
		return p.options.Title
	}
	return p.name
}

// Options returns a copy of the photon's options.
func (p *Photon) Options() Options { return p.options }

// Input returns the schema of the arguments.
func (p *Photon) Input() *Schema { return p.input }

// Output returns the schema of the result. It accepts anything if Out is an
// interface, and null wherever encoding/json writes it: for nil slices, maps and
// pointers.
func (p *Photon) Output() *Schema { return p.output }

// Check validates arguments against the input schema, fills in defaults (see also
// [Options]), and returns the arguments for [Photon.Run]. Nil or empty args are an empty object.
// The error is an [*InvalidError] with every violation, or says why the photon is invalid.
func (p *Photon) Check(args json.RawMessage) (json.RawMessage, error) {
	if p.err != nil {
		return nil, p.err
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if p.options.Definition != nil {
		return args, p.input.validateBriefly(args)
	}
	return p.input.Check(args)
}

// Run executes the photon with arguments that [Photon.Check] returned, without Beam. Nobody
// can be asked: a question's error is ErrUnsupported of package ask. Nothing is recorded.
//
// The last pair of the sequence is the [*Result] or the error that ended the run. It follows
// once the generator and the goroutines that it started with [Go] have returned.
// The generator runs within the range loop. Breaking out of the loop makes yield
// return false, cancels the generator's context and waits for it to return. To stop
// a run, break out of the loop or end ctx.
//
// The loop body may run on any goroutine of the generator, but never on two at
// once. If it panics or calls runtime.Goexit, so does the ranging goroutine.
func (p *Photon) Run(ctx context.Context, args json.RawMessage) iter.Seq2[Event, error] {
	return func(body func(Event, error) bool) {
		p.prepare(ctx, args).All(func(event any, err error) bool {
			if c, ok := event.(*call.Call); ok {
				settleAlone(c)
				return true
			}
			e, _ := event.(Event)
			return body(e, err)
		})
	}
}

// settleAlone replies to a call where nobody can be asked. A step runs by itself.
func settleAlone(c *call.Call) {
	switch c.Kind {
	case call.StepKind:
	case call.SleepKind:
		time.AfterFunc(time.Until(c.Until), func() { c.Settle(call.Reply{}) })
	default:
		c.Settle(call.Reply{Err: call.ErrUnsupported})
	}
}

// prepare returns a run that [run.All] starts, and that [run.Stop] or the end of ctx
// stops. A run that is never started holds resources until ctx ends.
func (p *Photon) prepare(ctx context.Context, args json.RawMessage) *run {
	r := &run{photon: p, args: args}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	if ctx.Done() != nil {
		r.stopAfterFunc = context.AfterFunc(ctx, func() { r.Stop(context.Cause(ctx)) })
	}
	return r
}

// setExamples checks Options.Examples. It does nothing for a photon without a schema.
func (p *Photon) setExamples() error {
	p.options.Examples = slices.Clone(p.options.Examples)
	if p.err != nil {
		return nil
	}
	for i, example := range p.options.Examples {
		raw, err := json.Marshal(example)
		if err == nil {
			_, err = p.Check(raw)
		}
		if err != nil {
			return fmt.Errorf("its example %d: %w", i+1, err)
		}
		p.options.Examples[i] = json.RawMessage(raw)
	}
	return nil
}

// TaskSupport controls whether a call of a photon is a task: the server responds at
// once with a handle, and the client uses it to poll, to answer questions and to get
// the result (MCP 2025-11-25, Tasks; the extension io.modelcontextprotocol/tasks of
// 2026-07-28). It has no effect on other surfaces.
type TaskSupport string

// The values of TaskSupport.
const (
	// TaskOptional lets the client decide. In MCP 2026-07-28, where clients can't, the
	// call becomes a task if it waits for an answer that its client can't be asked for,
	// or works for more than two seconds and reports no progress to its client.
	TaskOptional TaskSupport = ""
	// TaskPreferred is for photons that take long or wait for people: the call is a
	// task if the client supports tasks.
	TaskPreferred TaskSupport = "preferred"
	// TaskAfterAsking is TaskPreferred for a photon that begins with questions and
	// then works for long: in MCP 2026-07-28, the call itself asks the first
	// questions, and becomes a task once they are answered.
	TaskAfterAsking TaskSupport = "after asking"
	// TaskRequired rejects calls that are not tasks.
	TaskRequired TaskSupport = "required"
	// TaskForbidden rejects calls as tasks. No call becomes one.
	TaskForbidden TaskSupport = "forbidden"
)

func (t TaskSupport) validate() error {
	switch t {
	case TaskOptional, TaskPreferred, TaskAfterAsking, TaskRequired, TaskForbidden:
		return nil
	}
	return fmt.Errorf("Options.Task is %q, which is not a TaskSupport", string(t))
}
