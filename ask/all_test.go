package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
)

// All stores the answers, returns an error for each question without one, and returns
// only when all questions are settled.
func TestAllWithMixedOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		d := Driver{Provider: ProviderFunc(func(ctx context.Context, key string, q *askdata.Question) (askdata.Answer, error) {
			mu.Lock()
			order = append(order, key)
			mu.Unlock()
			switch key {
			case "name":
				time.Sleep(time.Hour)
				return accepted(`{"name":"Ada"}`), nil
			case "count":
				return accepted(`{"count":7}`), nil
			case "sure":
				return askdata.Answer{Action: askdata.Decline}, nil
			case "level":
				return askdata.Answer{Action: askdata.Cancel}, nil
			case "wrong":
				return accepted(`{"wrong":5}`), nil
			case "file":
				return askdata.Answer{}, ask.ErrUnsupported
			}
			<-ctx.Done()
			return askdata.Answer{}, ctx.Err()
		})}
		name, count, sure, level, wrong, late := "before", 1, true, "before", "before", 0.5
		var files []ask.Handle
		var err error
		start := time.Now()
		_, _ = d.Run(t.Context(), photon(func(yield generators.Yield) (int, error) {
			err = ask.All(yield,
				ask.ForText("name", "m").Into(&name),
				ask.ForInteger("count", "m").Into(&count),
				ask.ForConfirm("sure", "m").Into(&sure),
				ask.ForSelect("level", "m", ask.Choices("a")).Into(&level),
				ask.ForText("wrong", "m").Into(&wrong),
				ask.ForNumber("late", "m", ask.Timeout(2*time.Hour)).Into(&late),
				ask.ForFiles("file", "m").Into(&files),
				ask.ForText("", "m").Into(&wrong),
			)
			return 0, nil
		}), nil)
		if took := time.Since(start); took != 2*time.Hour {
			t.Errorf("All returned after %v", took)
		}
		if name != "Ada" || count != 7 || !sure || level != "before" || wrong != "before" || late != 0.5 || files != nil {
			t.Errorf("the values are %q %d %v %q %q %v %v", name, count, sure, level, wrong, late, files)
		}
		for _, want := range []error{ask.ErrDeclined, ask.ErrCancelled, ask.ErrTimeout, ask.ErrUnsupported} {
			if !errors.Is(err, want) {
				t.Errorf("the error isn't %v: %v", want, err)
			}
		}
		for _, want := range []string{"sure: the question was declined", "wrong: /wrong must be text", "late: ", "a question needs a key"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error doesn't contain %q: %v", want, err)
			}
		}
		if len(order) != 7 {
			t.Errorf("asked: %q", order)
		}
	})
}

func TestAllAnswered(t *testing.T) {
	var a, b string
	d := Driver{Provider: ProviderFunc(func(_ context.Context, key string, _ *askdata.Question) (askdata.Answer, error) {
		return accepted(`{"k":"` + key + `"}`), nil
	})}
	p := photon(func(yield generators.Yield) ([]string, error) {
		err := ask.All(yield, ask.ForText("k", "m").Into(&a), ask.ForText("k", "m").Into(&b))
		return []string{a, b}, err
	})
	result, err := d.Run(t.Context(), p, nil)
	if err != nil || string(result) != `["k","k#2"]` {
		t.Errorf("two questions with the same key: %s, %v", result, err)
	}
	if err := ask.All(nil); err != nil {
		t.Errorf("without questions: %v", err)
	}
}

// If there are too many questions, none of them is asked.
func TestTooManyQuestionsAreNotAsked(t *testing.T) {
	d := Driver{Provider: ProviderFunc(func(context.Context, string, *askdata.Question) (askdata.Answer, error) {
		t.Error("a question was asked")
		return askdata.Answer{Action: askdata.Decline}, nil
	})}
	_, err := runAsk(t, d, func(yield generators.Yield) (bool, error) {
		var to [askdata.MaxAtOnce + 1]bool
		var items []ask.Item
		for i := range to {
			items = append(items, ask.ForConfirm("k"+strconv.Itoa(i), "?").Into(&to[i]))
		}
		return false, ask.All(yield, items...)
	})
	var policy *ask.PolicyError
	if !errors.As(err, &policy) || !strings.Contains(err.Error(), "at most 100") {
		t.Errorf("got %v", err)
	}
}

// If the run is stopped, the error is ErrStopped for every question.
func TestAllWhenTheRunStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(generators.ErrSuspended) })
		var a, b string
		_, err := Driver{Provider: neverAnswers}.Run(ctx, photon(func(yield generators.Yield) (int, error) {
			return 0, ask.All(yield, ask.ForText("a", "m").Into(&a), ask.ForText("b", "m").Into(&b))
		}), nil)
		if !errors.Is(err, ask.ErrSuspended) || errors.Is(err, ask.ErrStopped) {
			t.Errorf("got %v", err)
		}
	})
}

// A prompt can be asked in several runs at once.
func TestPromptsAreReusable(t *testing.T) {
	prompt := ask.ForText("k", "m", ask.Length(1, 9))
	d := Driver{Provider: acceptAll(`{"k":"v"}`), Policy: asking.Policy{Timeout: time.Minute}}
	p := photon(func(yield generators.Yield) (string, error) {
		a, errA := prompt.Ask(yield)
		b, errB := prompt.Ask(yield)
		return a + b, errors.Join(errA, errB)
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if result, err := d.Run(t.Context(), p, nil); err != nil || string(result) != `"vv"` {
				t.Errorf("got %s, %v", result, err)
			}
		})
	}
	all.Wait()
}

// A driver may settle a call and leave the loop at once.
func TestAnswerThenBreak(t *testing.T) {
	var got string
	p := photon(func(yield generators.Yield) (string, error) {
		var err error
		got, err = ask.Text(yield, "k", "m")
		return got, err
	})
	for e := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
		if c, ok := driver.CallOf(e); ok {
			c.Settle(accepted(`{"k":"v"}`).Reply())
			break
		}
	}
	if got != "v" {
		t.Errorf("got %q", got)
	}
}

// TestQuestions checks the questions that surfaces receive.
func TestQuestions(t *testing.T) {
	q := questionOf(t, ask.ForConfirm("k", "m", ask.Destructive(), ask.Verbs("Delete", "Keep"), ask.Title("T"), ask.Description("D"), ask.Timeout(time.Hour)))
	want := &askdata.Question{Kind: askdata.KindConfirm, Message: "m", Destructive: true, Yes: "Delete", No: "Keep", Timeout: askdata.Millis(time.Hour),
		Fields: askdata.Fields{{Name: "k", Title: "T", Description: "D", Type: "boolean", Required: true}}}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("got %+v\nwant %+v", q, want)
	}
	raw, err := json.Marshal(q)
	var back askdata.Question
	if err != nil || json.Unmarshal(raw, &back) != nil || !reflect.DeepEqual(&back, want) {
		t.Errorf("after a round trip through JSON it is %+v (%v)", back, err)
	}
	if f := questionOf(t, ask.ForText("k", "m", ask.Long(), ask.Optional())).Fields[0]; f.Format != askdata.FormatLong || f.Required || f.Label() != "k" {
		t.Errorf("a long text: %+v", f)
	}
}

// All sets More in all calls but the last, so that a surface knows when it has all
// questions. Invalid prompts aren't asked and don't count.
func TestMoreIsSetInAllButTheLastCall(t *testing.T) {
	type yieldedCall struct {
		Key  string
		More bool
	}
	var got []yieldedCall
	p := photon(func(yield generators.Yield) (int, error) {
		var a, b string
		_ = ask.All(yield, ask.ForText("", "broken").Into(&a), ask.ForText("a", "m").Into(&a), ask.ForText("b", "m").Into(&b),
			ask.ForText("late", "broken", ask.Step(2)).Into(&b))
		_, _ = ask.Text(yield, "alone", "m")
		return 0, ask.All(yield, ask.ForText("only", "m").Into(&a))
	})
	for e, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := driver.CallOf(e); ok {
			got = append(got, yieldedCall{c.Key, c.More})
			c.Settle(accepted(`{"` + c.Key + `":"x"}`).Reply())
		}
	}
	want := []yieldedCall{{"a", true}, {"b", false}, {"alone", false}, {"only", false}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
