package generators_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

type target struct {
	Env   string `json:"env"`
	Count int    `json:"count,omitempty"`
}

// TestNewAndFromChanAreEquivalent runs the same generator in both forms.
func TestNewAndFromChanAreEquivalent(t *testing.T) {
	work := func(in target, yield generators.Yield, err error) (target, error) {
		yield(generators.Status("one"))
		got, askErr := askText(yield, "name")
		yield(generators.Status(got))
		if askErr != nil {
			return target{}, askErr
		}
		n, stepErr := generators.Step(yield, "add", func(context.Context) (int, error) { return in.Count + 1, nil })
		if stepErr != nil {
			return target{}, stepErr
		}
		yield(generators.Progress(1, 1, ""))
		return target{in.Env, n}, err
	}
	tests := []struct {
		name   string
		fail   error
		reply  driver.Reply
		cancel bool
	}{
		{name: "result", reply: valueReply(`"ada"`)},
		{name: "error", reply: valueReply(`"ada"`), fail: errors.New("no disk")},
		{name: "refused", reply: driver.Reply{Err: errors.New("declined")}},
		{name: "stopped", cancel: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			forms := map[string]*generators.Photon{
				"New": generators.New("p", func(_ context.Context, in target, yield generators.Yield) (target, error) {
					return work(in, yield, tt.fail)
				}, nil),
				"FromChan": generators.FromChan("p", func(ctx context.Context, in target, events chan<- generators.Event) (target, error) {
					return work(in, generators.Sender(ctx, events), tt.fail)
				}, nil),
			}
			seen := make(map[string][]string)
			for name, p := range forms {
				seen[name] = transcript(t, p, tt.reply, tt.cancel)
			}
			if !reflect.DeepEqual(seen["New"], seen["FromChan"]) {
				t.Errorf("New      %q\nFromChan %q", seen["New"], seen["FromChan"])
			}
			if len(seen["New"]) < 3 {
				t.Errorf("the transcript is too short: %q", seen["New"])
			}
		})
	}
}

// transcript returns what a driver sees of a run.
func transcript(t *testing.T, p *generators.Photon, reply driver.Reply, cancel bool) []string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var lines []string
	for e, err := range driver.Prepare(ctx, p, json.RawMessage(`{"env":"prod","count":3}`)).All {
		if err != nil {
			lines = append(lines, "error: "+err.Error())
			continue
		}
		c, ok := driver.CallOf(e)
		switch {
		case !ok:
			kind, data, err := driver.Encode(e.(generators.Event))
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, kind+" "+string(data))
			continue
		case c.Kind == driver.StepKind:
		case cancel:
			stop()
		default:
			c.Settle(reply)
		}
		lines = append(lines, "call "+c.Kind+" "+c.Key)
		if c.Concurrent {
			lines = append(lines, "concurrent")
		}
	}
	return lines
}

func TestFromChanPlainSendsAndClosedChannel(t *testing.T) {
	p := generators.FromChan("p", func(_ context.Context, _ noInput, events chan<- generators.Event) (int, error) {
		events <- generators.Status("a")
		events <- nil
		events <- generators.Status("b")
		close(events) // against the rules
		return 7, nil
	}, nil)
	events, result, err := drive(t.Context(), p, nil)
	if got := statusTexts(events); err != nil || result != "7" || !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("got %q, result %s, error %v", got, result, err)
	}
}

func TestArgumentsAndResults(t *testing.T) {
	p := generators.New("p", func(_ context.Context, in target, _ generators.Yield) (any, error) {
		if in.Env == "fun" {
			return func() {}, nil
		}
		return in.Count, nil
	}, nil)
	tests := []struct{ args, result, err string }{
		{`{"env":"a","count":2}`, "2", ""},
		{`{"env":"a"}`, "0", ""},
		{`{"env":"fun"}`, "", "the tool's result can't be encoded as JSON"},
		{`{"env":1}`, "", "the arguments don't fit"},
		{``, "", "the arguments don't fit"},
	}
	for _, tt := range tests {
		pairs := 0
		for e, err := range driver.Prepare(t.Context(), p, json.RawMessage(tt.args)).All {
			pairs++
			switch {
			case err != nil && (tt.err == "" || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("%s: error %v, want %q", tt.args, err, tt.err)
			case err == nil && string(e.(*generators.Result).Value) != tt.result:
				t.Errorf("%s: result %s, want %s", tt.args, e.(*generators.Result).Value, tt.result)
			}
		}
		if pairs != 1 {
			t.Errorf("%s: %d pairs, want only the last one", tt.args, pairs)
		}
	}
}

func TestCheckArguments(t *testing.T) {
	p := generators.New("p", func(context.Context, target, generators.Yield) (int, error) { return 0, nil }, nil)
	if _, err := p.Check(nil); fieldErrors(t, err)["/env"] != "is required" {
		t.Errorf("no arguments: %v", err)
	}
	if _, err := p.Check(json.RawMessage("null")); fieldErrors(t, err)[""] != "must be an object, not null" {
		t.Errorf("null: %v", err)
	}
	// To JSON Schema, 4.0 and 4e1 are integers. Check writes them so that Go decodes
	// them as such.
	args, err := p.Check(json.RawMessage(`{"env":"a","count":4e1}`))
	if err != nil || string(args) != `{"count":40,"env":"a"}` {
		t.Errorf("4e1 became %s, %v", args, err)
	}
	broken := generators.New("p", func(context.Context, chan int, generators.Yield) (int, error) { return 0, nil }, nil)
	if _, err := broken.Check(nil); err == nil {
		t.Error("Check of a photon without a schema returned no error")
	}
}

// TestRunsAreIndependent runs one photon several times at once.
func TestRunsAreIndependent(t *testing.T) {
	p := photon(func(_ context.Context, yield generators.Yield) (string, error) { return askText(yield, "k") })
	done := make(chan string)
	for i := range 50 {
		go func() {
			n, _ := json.Marshal(i)
			_, result, err := drive(t.Context(), p, func(c *driver.Call) driver.Reply { return valueReply(string(n)) })
			if err != nil || result != `"`+string(n)+`"` {
				result = "wrong: " + result
			}
			done <- result
		}()
	}
	for range 50 {
		if r := <-done; strings.HasPrefix(r, "wrong") {
			t.Error(r)
		}
	}
}

// Without Beam, a photon's steps run, its sleeps end, and nobody can be asked.
func TestRunWithoutBeam(t *testing.T) {
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		n, err := generators.Step(yield, "step", func(context.Context) (int, error) { return 7, nil })
		if err != nil {
			return 0, err
		}
		if err := generators.Sleep(yield, "nap", time.Millisecond); err != nil {
			return 0, err
		}
		if _, err := ask.Confirm(yield, "go", "Go?"); !errors.Is(err, ask.ErrUnsupported) {
			t.Errorf("a question returned %v", err)
		}
		return n, nil
	})
	var last generators.Event
	for e, err := range p.Run(t.Context(), json.RawMessage(`{}`)) {
		if last = e; err != nil {
			t.Fatal(err)
		}
	}
	if r, ok := last.(*generators.Result); !ok || string(r.Value) != "7" {
		t.Errorf("the run ended with %v", last)
	}
}
