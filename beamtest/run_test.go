package beamtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

type none = struct{}

// newPhoton returns a photon without input.
func newPhoton[Out any](fn func(context.Context, generators.Yield) (Out, error)) *generators.Photon {
	return generators.New("photon", func(ctx context.Context, _ none, yield generators.Yield) (Out, error) { return fn(ctx, yield) },
		&generators.Options{Durable: true})
}

// A recorder records what a test reports instead of failing.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatal(args ...any) { r.Error(args...); panic(r) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// failures returns what do reports.
func failures(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(r) {
				panic(v)
			}
		}()
		do(r)
	}()
	return strings.Join(r.errors, "\n")
}

type account struct {
	Email string `json:"email" format:"email"`
	Role  string `json:"role" enum:"viewer,editor"`
	Age   *int   `json:"age,omitempty"`
}

func fileContents(files []ask.Handle, err error) (any, error) {
	var all []string
	for _, f := range files {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf("%s %s %d %s", f.Name, f.MediaType, f.Size, content))
	}
	return all, err
}

func asAny[T any](v T, err error) (any, error) { return v, err }

// everyKind has a question and an answer of every kind.
var everyKind = []struct {
	kind  askdata.Kind
	ask   func(generators.Yield) (any, error)
	value any
	want  string // the result
}{
	{askdata.KindText, func(y generators.Yield) (any, error) { return asAny(ask.Text(y, "k", "?")) }, "Ada", `"Ada"`},
	{askdata.KindSecret, func(y generators.Yield) (any, error) { return asAny(ask.Secret(y, "k", "?")) }, "hunter2", `"hunter2"`},
	{askdata.KindConfirm, func(y generators.Yield) (any, error) { return asAny(ask.Confirm(y, "k", "?")) }, true, `true`},
	{askdata.KindSelect, func(y generators.Yield) (any, error) { return asAny(ask.Select(y, "k", "?", ask.Choices("a", "b"))) }, "b", `"b"`},
	{askdata.KindMultiSelect, func(y generators.Yield) (any, error) {
		return asAny(ask.MultiSelect(y, "k", "?", ask.Choices("a", "b")))
	}, []string{"a", "b"}, `["a","b"]`},
	{askdata.KindNumber, func(y generators.Yield) (any, error) { return asAny(ask.Number(y, "k", "?")) }, 1.5, `1.5`},
	{askdata.KindInteger, func(y generators.Yield) (any, error) { return asAny(ask.Integer(y, "k", "?")) }, 7, `7`},
	{askdata.KindDate, func(y generators.Yield) (any, error) { return asAny(ask.Date(y, "k", "?")) }, time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC), `"2026-12-31T00:00:00Z"`},
	{askdata.KindDateTime, func(y generators.Yield) (any, error) { return asAny(ask.DateTime(y, "k", "?")) }, time.Date(2026, 12, 31, 23, 0, 0, 5, time.UTC), `"2026-12-31T23:00:00.000000005Z"`},
	{
		askdata.KindFile, func(y generators.Yield) (any, error) { return fileContents(ask.Files(y, "k", "?")) },
		[]beamtest.File{{Name: "a.csv", Content: []byte("a,b"), MediaType: "text/csv"}, {Name: "b"}}, `["a.csv text/csv 3 a,b","b application/octet-stream 0 "]`,
	},
	{askdata.KindForm, func(y generators.Yield) (any, error) { return asAny(ask.Form[account](y, "k", "?")) }, account{"ada@example.org", "editor", new(36)}, `{"email":"ada@example.org","role":"editor","age":36}`},
	{askdata.KindURL, func(y generators.Yield) (any, error) { return nil, ask.URL(y, "k", "?", "https://example.org/") }, nil, `null`},
	{
		askdata.KindSample, func(y generators.Yield) (any, error) {
			return asAny(ask.Sample(y, "k", ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Hi"))}, MaxTokens: 9}))
		}, "Hello", `{"role":"assistant","content":{"text":"Hello","type":"text"},"model":"beamtest","stopReason":"endTurn"}`,
	},
	{askdata.KindRoots, func(y generators.Yield) (any, error) { return asAny(ask.Roots(y, "k")) }, []ask.Root{{URI: "file:///srv", Name: "srv"}}, `[{"uri":"file:///srv","name":"srv"}]`},
}

// Every kind of question takes a Go value, live and in a replay, and can stay without
// an answer.
func TestEveryKind(t *testing.T) {
	var tested []askdata.Kind
	for _, test := range everyKind {
		tested = append(tested, test.kind)
		t.Run(string(test.kind), func(t *testing.T) {
			p := newPhoton(func(_ context.Context, yield generators.Yield) (any, error) { return test.ask(yield) })
			o := beamtest.Replay(t, p, nil, beamtest.Script{"k": beamtest.Accept(test.value)})
			if o.Err != nil || string(o.Result) != test.want {
				t.Errorf("got %s, %v; want %s", o.Result, o.Err, test.want)
			}
			if !slices.Equal(o.Asked, []string{"k"}) || o.Questions["k"].Kind != string(test.kind) {
				t.Errorf("asked were %q: %+v", o.Asked, o.Questions)
			}
			for want, response := range map[error]beamtest.Response{
				ask.ErrDeclined: beamtest.Decline(), ask.ErrCancelled: beamtest.Cancel(), ask.ErrTimeout: beamtest.Fail(ask.ErrTimeout),
				ask.ErrUnsupported: beamtest.Fail(ask.ErrUnsupported), ask.ErrInvalid: beamtest.Fail(ask.ErrInvalid),
			} {
				if o := beamtest.Replay(t, p, nil, beamtest.Script{"k": response}); !errors.Is(o.Err, want) || o.Result != nil {
					t.Errorf("got %s, %v; want %v", o.Result, o.Err, want)
				}
			}
			said := failures(t, func(t testing.TB) { beamtest.Run(t, p, nil, nil) })
			if want := fmt.Sprintf("the photon asked \"k\" (%s: ", test.kind); !strings.HasPrefix(said, want) || !strings.Contains(said, `"k": beamtest.Accept(`) {
				t.Errorf("without a script, it says %q", said)
			}
		})
	}
	if !slices.Equal(tested, askdata.Kinds()) {
		t.Errorf("tested are %q, of %q", tested, askdata.Kinds())
	}
}

func TestAcceptJSON(t *testing.T) {
	p := newPhoton(func(_ context.Context, yield generators.Yield) (account, error) {
		return ask.Form[account](yield, "k", "?")
	})
	content := `{"email":"ada@example.org","role":"viewer"}`
	for _, value := range []any{json.RawMessage(content), map[string]any{"email": "ada@example.org", "role": "viewer"}} {
		if o := beamtest.Run(t, p, nil, beamtest.Script{"k": beamtest.Accept(value)}); string(o.Result) != content {
			t.Errorf("got %s, %v; want %s", o.Result, o.Err, content)
		}
	}
}

// An answer can depend on the question.
func TestAcceptFunc(t *testing.T) {
	p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Select(yield, "k", "?", ask.Choices("drawn", "lots"))
	})
	first := beamtest.Accept(func(q *beamtest.Question) any { return q.Choices("k")[0].Value })
	if got := beamtest.Decode[string](t, beamtest.Replay(t, p, nil, beamtest.Script{"k": first})); got != "drawn" {
		t.Errorf("got %q", got)
	}
}

// A blank answer is the zero value if the field is optional, and invalid otherwise.
func TestAcceptNothing(t *testing.T) {
	for _, opts := range [][]ask.Option{nil, {ask.Optional()}} {
		p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
			return ask.Text(yield, "k", "?", opts...)
		})
		o := beamtest.Run(t, p, nil, beamtest.Script{"k": beamtest.Accept(nil)})
		if _, refused := errors.AsType[*generators.InvalidError](o.Err); refused != (opts == nil) {
			t.Errorf("got %s, %v", o.Result, o.Err)
		}
	}
}

// Answers are refused as Beam does it.
func TestInvalidAnswers(t *testing.T) {
	for _, test := range everyKind {
		value := map[askdata.Kind]any{
			askdata.KindText: 1, askdata.KindSecret: 1, askdata.KindConfirm: "yes", askdata.KindSelect: "c", askdata.KindMultiSelect: []string{"c"}, askdata.KindNumber: "1",
			askdata.KindInteger: 1.5, askdata.KindDate: "31.12.2026", askdata.KindDateTime: "now", askdata.KindFile: nil, askdata.KindForm: account{Email: "ada"},
			askdata.KindSample: ask.SampleResult{}, askdata.KindRoots: []ask.Root{{URI: "https://example.org/"}},
		}[test.kind]
		if test.kind == askdata.KindURL {
			continue // there is nothing to refuse
		}
		p := newPhoton(func(_ context.Context, yield generators.Yield) (any, error) { return test.ask(yield) })
		o := beamtest.Run(t, p, nil, beamtest.Script{"k": beamtest.Accept(value)})
		if _, ok := errors.AsType[*generators.InvalidError](o.Err); !ok {
			t.Errorf("%s: %v was accepted: %s, %v", test.kind, value, o.Result, o.Err)
		}
		said := failures(t, func(t testing.TB) { beamtest.Replay(t, p, nil, beamtest.Script{"k": beamtest.Accept(value)}) })
		if !strings.Contains(said, `the script's answer to "k": `) {
			t.Errorf("%s: the replay says %q", test.kind, said)
		}
	}
}

func TestOutcome(t *testing.T) {
	failure := errors.New("no luck")
	p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
		yield(generators.Status("one"))
		for range 2 {
			if _, err := ask.Text(yield, "name", "Name?"); err != nil {
				return "", err
			}
		}
		n, err := generators.Step(yield, "count", func(context.Context) (int, error) { return 3, nil })
		yield(generators.Log(generators.Debug, map[string]int{"n": n}))
		generators.Step(yield, "fail", func(context.Context) (int, error) { return 0, failure })
		yield(generators.Status("two"))
		return "", errors.Join(failure, err)
	})
	o := beamtest.Run(t, p, nil, beamtest.Script{"name": beamtest.Accept("Ada"), "name#2": beamtest.Accept("Bob")})
	if !errors.Is(o.Err, failure) || o.Result != nil {
		t.Errorf("got %s, %v; want the photon's own error", o.Result, o.Err)
	}
	want := []generators.Event{generators.Status("one"), generators.Log(generators.Debug, map[string]int{"n": 3}), generators.Status("two")}
	if !reflect.DeepEqual(o.Events, want) || len(o.At) != len(want) {
		t.Errorf("the events are %v", o.Events)
	}
	if got := o.Statuses(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the statuses are %q", got)
	}
	if !slices.Equal(o.Asked, []string{"name", "name#2"}) || o.Questions["name#2"].Message != "Name?" {
		t.Errorf("asked were %q: %v", o.Asked, o.Questions)
	}
	steps := []*generators.Stepped{{Key: "count", Value: json.RawMessage("3")}, {Key: "fail", Error: "no luck"}}
	if !reflect.DeepEqual(o.Steps, steps) {
		t.Errorf("the steps are %v", o.Steps)
	}
	if said := failures(t, func(t testing.TB) { beamtest.Decode[string](t, o) }); said != "the run failed: no luck" {
		t.Errorf("it says %q", said)
	}
	o = &beamtest.Outcome{Result: json.RawMessage(`"text"`)}
	if said := failures(t, func(t testing.TB) { beamtest.Decode[int](t, o) }); !strings.HasPrefix(said, `decoding the result "text": `) {
		t.Errorf("it says %q", said)
	}
}

type target struct {
	Env string `json:"env" enum:"dev,prod"`
}

func TestArguments(t *testing.T) {
	p := generators.New("deploy", func(_ context.Context, in target, _ generators.Yield) (string, error) { return in.Env, nil }, nil)
	for _, args := range []any{target{"dev"}, `{"env":"dev"}`, []byte(`{"env":"dev"}`), json.RawMessage(`{"env":"dev"}`), map[string]string{"env": "dev"}} {
		if got := beamtest.Decode[string](t, beamtest.Run(t, p, args, nil)); got != "dev" {
			t.Errorf("%v: got %q", args, got)
		}
	}
	for _, args := range []any{nil, target{}, `{"env":"test"}`, `{`} {
		if o := beamtest.Run(t, p, args, nil); o.Err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if said := failures(t, func(t testing.TB) { beamtest.Run(t, p, make(chan int), nil) }); !strings.Contains(said, "can't be encoded as JSON") {
		t.Errorf("it says %q", said)
	}
}

// What is wrong with the photon or the script fails the test.
func TestFaults(t *testing.T) {
	asks := newPhoton(func(_ context.Context, yield generators.Yield) (any, error) {
		for { // it doesn't give up as long as it runs
			if a, err := ask.Form[account](yield, "account", "Which account?"); err == nil || errors.Is(err, ask.ErrStopped) {
				return a, err
			}
		}
	})
	asksFile := newPhoton(func(_ context.Context, yield generators.Yield) (any, error) {
		return fileContents(ask.Files(yield, "file", "Which?"))
	})
	for want, do := range map[string]func(testing.TB){
		`the photon asked "account" (form: Which account?), and the script only answers "a", "b". To answer it, add to the script:` + "\n\t" +
			`"account": beamtest.Accept(map[string]any{"email": "…", "role": "viewer"}),`: func(t testing.TB) {
			beamtest.Run(t, asks, nil, beamtest.Script{"a": beamtest.Decline(), "b": beamtest.Cancel()})
		},
		`the photon asked "account" (form: Which account?), and the script is empty`: func(t testing.TB) { beamtest.Replay(t, asks, nil, nil) },
		`a file question takes a beamtest.File or a []beamtest.File, not string`: func(t testing.TB) {
			beamtest.Run(t, asksFile, nil, beamtest.Script{"file": beamtest.Accept("a.csv")})
		},
		`json: unsupported type: chan int`: func(t testing.TB) {
			beamtest.Run(t, asks, nil, beamtest.Script{"account": beamtest.Accept(make(chan int))})
		},
		`photon photon panicked: oh no`: func(t testing.TB) {
			beamtest.Run(t, newPhoton(func(context.Context, generators.Yield) (any, error) { panic("oh no") }), nil, nil)
		},
		`Beam refuses to register the photon`: func(t testing.TB) {
			beamtest.Run(t, generators.New[none, none]("no name", nil, nil), nil, nil)
		},
	} {
		if said := failures(t, do); !strings.Contains(said, want) {
			t.Errorf("it says:\n%s\nwant:\n%s", said, want)
		}
	}
}

// The context of a run can be the test's own.
func TestRunContext(t *testing.T) {
	stopped := errors.New("enough")
	ctx, stop := context.WithCancelCause(beamtest.WithRoot(t.Context(), "/srv"))
	p := newPhoton(func(ctx context.Context, yield generators.Yield) (any, error) {
		root, _ := generators.Root(ctx)
		yield(generators.Status(root))
		stop(stopped)
		return ask.Text(yield, "name", "Name?")
	})
	o := beamtest.RunContext(ctx, t, p, nil, beamtest.Script{"name": beamtest.Accept("Ada")})
	if !errors.Is(o.Err, generators.ErrStopped) || !errors.Is(o.Err, stopped) || !slices.Equal(o.Statuses(), []string{"/srv"}) {
		t.Errorf("got %s, %v, %q", o.Result, o.Err, o.Statuses())
	}
}

// A file's content can be read any number of times.
func TestFileIsReadTwice(t *testing.T) {
	p := newPhoton(func(_ context.Context, yield generators.Yield) (string, error) {
		f, err := ask.File(yield, "file", "Which?")
		if err != nil {
			return "", err
		}
		var both bytes.Buffer
		for range 2 {
			r, err := f.Open()
			if err != nil {
				return "", err
			}
			io.Copy(&both, r)
			r.Close()
		}
		return both.String(), nil
	})
	o := beamtest.Run(t, p, nil, beamtest.Script{"file": beamtest.Accept(beamtest.File{Name: "a.txt", Content: []byte("one ")})})
	if got := beamtest.Decode[string](t, o); got != "one one " {
		t.Errorf("got %q", got)
	}
}
