package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

type preferences struct {
	Name  string   `json:"name"`
	Tags  []string `json:"tags,omitempty" enum:"a,b"`
	Count int      `json:"count"`
}

// A kindTest has the outcome of a kind of question for an accepted answer.
type kindTest struct {
	ask    func(generators.Yield, ...ask.Option) (any, error)
	accept askdata.Answer
	want   string // the value, as JSON
	zero   string // the value of every other outcome
}

func accepted(raw string) askdata.Answer {
	return askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(raw)}
}

var fileRef = askdata.FileRef{Name: "a.csv", MediaType: "text/csv", Size: 3, Digest: "d1"}

// kindTests has every kind of question.
var kindTests = map[askdata.Kind]kindTest{
	askdata.KindText: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.Text(y, "k", "m", o...) },
		accepted(`{"k":"Ada"}`), `"Ada"`, `""`},
	askdata.KindSecret: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.Secret(y, "k", "m", o...) },
		accepted(`{"k":"s3cret"}`), `"s3cret"`, `""`},
	askdata.KindConfirm: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.Confirm(y, "k", "m", o...) },
		accepted(`{"k":true}`), `true`, `false`},
	askdata.KindSelect: {func(y generators.Yield, o ...ask.Option) (any, error) {
		return ask.Select(y, "k", "m", ask.Choices("a", "b"), o...)
	}, accepted(`{"k":"b"}`), `"b"`, `""`},
	askdata.KindMultiSelect: {func(y generators.Yield, o ...ask.Option) (any, error) {
		return ask.MultiSelect(y, "k", "m", ask.Choices("a", "b", "c"), o...)
	}, accepted(`{"k":["c","a"]}`), `["c","a"]`, `null`},
	askdata.KindNumber: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.Number(y, "k", "m", o...) },
		accepted(`{"k":1.5}`), `1.5`, `0`},
	askdata.KindInteger: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.Integer(y, "k", "m", o...) },
		accepted(`{"k":4.0}`), `4`, `0`},
	askdata.KindDate: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.Date(y, "k", "m", o...) },
		accepted(`{"k":"2026-02-28"}`), `"2026-02-28T00:00:00Z"`, `"0001-01-01T00:00:00Z"`},
	askdata.KindDateTime: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.DateTime(y, "k", "m", o...) },
		accepted(`{"k":"2026-02-28T18:30:00+01:00"}`), `"2026-02-28T18:30:00+01:00"`, `"0001-01-01T00:00:00Z"`},
	askdata.KindFile: {func(y generators.Yield, o ...ask.Option) (any, error) {
		h, err := ask.File(y, "k", "m", o...)
		return h.Name, err
	}, askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{fileRef}}, `"a.csv"`, `""`},
	askdata.KindForm: {func(y generators.Yield, o ...ask.Option) (any, error) {
		return ask.Form[preferences](y, "k", "m", o...)
	}, accepted(`{"name":"Ada","tags":["b"],"count":2e0}`), `{"name":"Ada","tags":["b"],"count":2}`, `{"name":"","count":0}`},
	askdata.KindURL: {func(y generators.Yield, o ...ask.Option) (any, error) {
		return "opened", ask.URL(y, "k", "m", "https://example.org/login", o...)
	}, askdata.Answer{Action: askdata.Accept}, `"opened"`, `"opened"`},
	askdata.KindSample: {func(y generators.Yield, o ...ask.Option) (any, error) {
		r, err := ask.Sample(y, "k", greeting, o...)
		return r.Text(), err
	}, accepted(`{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m-1","stopReason":"endTurn"}`), `"Hello"`, `""`},
	askdata.KindRoots: {func(y generators.Yield, o ...ask.Option) (any, error) { return ask.Roots(y, "k", o...) },
		accepted(`{"roots":[{"uri":"file:///home/ada","name":"Home"}]}`), `[{"uri":"file:///home/ada","name":"Home"}]`, `null`},
}

// Every kind of question has every outcome. They are distinct, and none is a default.
func TestEveryKindHasEveryOutcome(t *testing.T) {
	broken := errors.New("the terminal is gone")
	outcomes := []struct {
		name   string
		answer Provider // nil for the answer in kindTests
		opts   []ask.Option
		want   error
	}{
		{"accept", nil, nil, nil},
		{"decline", answerAll(askdata.Answer{Action: askdata.Decline, Content: json.RawMessage(`{"k":"x"}`)}, nil), nil, ask.ErrDeclined},
		{"cancel", answerAll(askdata.Answer{Action: askdata.Cancel}, nil), nil, ask.ErrCancelled},
		{"timeout", neverAnswers, []ask.Option{ask.Timeout(time.Minute)}, ask.ErrTimeout},
		{"unsupported", Nobody, nil, ask.ErrUnsupported},
		{"broken", answerAll(askdata.Answer{}, broken), nil, broken},
		{"stopped", neverAnswers, nil, ask.ErrStopped},
		{"suspended", neverAnswers, nil, ask.ErrSuspended},
	}
	for _, kind := range askdata.Kinds() {
		k, ok := kindTests[kind]
		if !ok {
			t.Errorf("kindTests has no entry for the kind %q", kind)
			continue
		}
		for _, o := range outcomes {
			t.Run(string(kind)+"/"+o.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := Driver{Provider: o.answer}
					if d.Provider == nil {
						d.Provider = answerAll(k.accept, nil)
					}
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					if o.want == ask.ErrStopped || o.want == ask.ErrSuspended {
						time.AfterFunc(time.Second, func() { cancel(o.want) })
					}
					var got any
					var err error
					_, _ = d.Run(ctx, photon(func(yield generators.Yield) (int, error) {
						got, err = k.ask(yield, o.opts...)
						return 0, nil
					}), nil)
					value, encodeErr := json.Marshal(got)
					want := k.zero
					if o.want == nil {
						want = k.want
					}
					if encodeErr != nil || string(value) != want {
						t.Errorf("the value is %s, want %s", value, want)
					}
					if !errors.Is(err, o.want) {
						t.Errorf("the error is %v, want %v", err, o.want)
					}
					for _, other := range outcomes {
						if other.want != nil && other.want != o.want && errors.Is(err, other.want) {
							t.Errorf("the error %v is also %v", err, other.want)
						}
					}
				})
			})
		}
	}
}

// neverAnswers is a provider that doesn't answer.
var neverAnswers = ProviderFunc(func(ctx context.Context, _ string, _ *askdata.Question) (askdata.Answer, error) {
	<-ctx.Done()
	return askdata.Answer{}, ctx.Err()
})

// The policy's timeout applies to questions without a timeout of their own.
func TestPolicyTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := Driver{Provider: neverAnswers, Policy: asking.Policy{Timeout: time.Hour}}
		prompt := ask.ForText("k", "m")
		start := time.Now()
		for range 2 {
			if _, err := runAsk(t, d, prompt.Ask); !errors.Is(err, ask.ErrTimeout) {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(start); took != 2*time.Hour {
			t.Errorf("two questions took %v", took)
		}
		if q := questionOf(t, prompt); q.Timeout != 0 {
			t.Errorf("the policy's timeout changed the prompt: %v", q.Timeout)
		}
		_, err := runAsk(t, d, ask.ForText("k", "m", ask.Timeout(time.Minute)).Ask)
		if took := time.Since(start); took != 2*time.Hour+time.Minute || !errors.Is(err, ask.ErrTimeout) {
			t.Errorf("its own timeout elapsed after %v", took)
		}
	})
}

// TestDriver runs a photon with events, a step, questions and a file.
func TestDriver(t *testing.T) {
	p := generators.New("p", func(ctx context.Context, in preferences, yield generators.Yield) (string, error) {
		yield(generators.Status("on"))
		n, err := generators.Step(yield, "s", func(context.Context) (int, error) { return in.Count + 1, nil })
		if err != nil || n != 3 {
			t.Errorf("the step returned %d, %v", n, err)
		}
		return ask.Text(yield, "k", "m")
	}, nil)
	var seen int
	d := Driver{Provider: acceptAll(`{"k":"Ada"}`), Events: func(generators.Event) { seen++ }}
	result, err := d.Run(t.Context(), p, json.RawMessage(`{"name":"x","count":2.0}`))
	if err != nil || string(result) != `"Ada"` || seen != 2 {
		t.Errorf("result %s, error %v, %d events", result, err, seen)
	}
	if _, err := d.Run(t.Context(), p, nil); fieldErrors(t, err)["/name"] != "is required" {
		t.Errorf("without arguments: %v", err)
	}
	if _, err := (Driver{}).Run(t.Context(), p, json.RawMessage(`{"name":"x","count":2}`)); !errors.Is(err, ask.ErrUnsupported) {
		t.Errorf("without a provider: %v", err)
	}
	bad := Driver{Provider: acceptAll(`{"k":1}`)}
	if _, err := bad.Run(t.Context(), p, json.RawMessage(`{"name":"x","count":2}`)); fieldErrors(t, err)["/k"] != "must be text, not a number" {
		t.Errorf("an invalid answer: %v", err)
	}
}
