package generators_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/registry"
)

// exampleTest stands for the *testing.T of a test, which an example doesn't have.
type exampleTest struct{ testing.TB }

func (exampleTest) Helper()                   {}
func (exampleTest) Context() context.Context  { return context.Background() }
func (exampleTest) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (exampleTest) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

type greeting struct {
	Name  string `json:"name" title:"Who is it?" minLength:"1" maxLength:"40"`
	Times int    `json:"times,omitempty" minimum:"1" maximum:"9" default:"1"`
}

// A photon is a function that yields events and returns a value. The types of its input
// and output, and the struct tags of the input, become its schemas.
func ExampleNew() {
	hello := generators.New("hello", func(_ context.Context, in greeting, yield generators.Yield) (string, error) {
		for i := range in.Times {
			if !yield(generators.Progress(float64(i), float64(in.Times), "greeting")) {
				return "", generators.ErrStopped
			}
		}
		return strings.Repeat("Hello, "+in.Name+"! ", in.Times), nil
	}, &generators.Options{
		Title: "Say hello", Description: "Greets somebody.",
		ReadOnly: true, Destructive: false, Idempotent: true, OpenWorld: false,
		TimeLimit: time.Minute, Task: generators.TaskOptional,
	})

	got := beamtest.Run(exampleTest{}, hello, greeting{Name: "Ada", Times: 2}, nil)
	fmt.Println(string(got.Result), len(got.Events), "events")

	got = beamtest.Run(exampleTest{}, hello, greeting{Times: 12}, nil)
	var invalid *generators.InvalidError
	if errors.As(got.Err, &invalid) {
		for _, f := range invalid.Fields {
			fmt.Printf("%s %s (%s: %s, not %s)\n", f.Path, f.Message, f.Rule, f.Want, cmp.Or(f.Got, "more"))
		}
	}
	// Output:
	// "Hello, Ada! Hello, Ada! " 2 events
	// /name must not be empty (minLength: 1, not 0)
	// /times must be at most 9 (maximum: 9, not more)
}

// A generator that returns a document returns it as MarkdownText, and not as an artifact
// as well.
func ExampleMarkdownText() {
	report := generators.New("report", func(context.Context, struct{}, generators.Yield) (generators.MarkdownText, error) {
		return "# Report\n\nAll is *well*.", nil
	}, nil)
	schema, _ := report.Output().MarshalJSON()
	fmt.Println(string(schema))
	// Output:
	// {"type":"string","contentMediaType":"text/markdown"}
}

// What came of a run can be followed event by event. The last is the result.
func ExamplePhoton_Run() {
	report := generators.New("report", func(_ context.Context, _ struct{}, yield generators.Yield) (int, error) {
		yield(generators.Statusf("reading %d files", 2))
		yield(generators.StatusAt(generators.Warning, "one is empty"))
		yield(generators.Busy("adding up"))
		yield(generators.Log(generators.Debug, map[string]int{"bytes": 7}))
		yield(generators.Chunk("so far"))
		yield(generators.Toast(generators.Success, "Done"))
		yield(generators.TableOf("Sums", generators.Table{Columns: []string{"file", "sum"}, Rows: [][]any{{"a", 7}, {"b", 0}}}))
		return 7, nil
	}, nil)

	for event, err := range report.Run(context.Background(), json.RawMessage(`{}`)) {
		if err != nil {
			fmt.Println(err)
			break
		}
		switch e := event.(type) {
		case *generators.StatusEvent:
			fmt.Println(e.Level, e.Text)
		case *generators.ProgressEvent:
			fmt.Println(e.Done, "of", e.Total, e.Text)
		case *generators.LogEvent:
			fmt.Println(e.Level, e.Logger, e.Data)
		case *generators.ChunkEvent:
			fmt.Println(e.Text)
		case *generators.ToastEvent:
			fmt.Println(e.Level, e.Text)
		case *generators.Artifact:
			fmt.Println(e.Title, e.MediaType == generators.TableType, string(e.Body))
		case *generators.Result:
			fmt.Println(string(e.Value))
		}
	}
	// Output:
	// info reading 2 files
	// warning one is empty
	// 0 of 0 adding up
	// debug  map[bytes:7]
	// so far
	// success Done
	// Sums true {"columns":["file","sum"],"rows":[["a",7],["b",0]]}
	// 7
}

// Goroutines that are started with Go may yield and ask. A panic in one ends the run,
// not the process.
func ExampleGo() {
	visit := generators.New("visit", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		var wg sync.WaitGroup
		answers := make([]string, 2)
		for i, city := range []string{"Bern", "Ulm"} {
			wg.Add(1)
			if !generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				defer wg.Done()
				answers[i], _ = ask.Text(yield, city, "What is there to see in "+city+"?") // both are open at once
			}) {
				return "", generators.ErrStopped
			}
		}
		wg.Wait()
		return strings.Join(answers, ", "), nil
	}, nil)
	got := beamtest.Run(exampleTest{}, visit, nil, beamtest.Script{"Bern": beamtest.Accept("bears"), "Ulm": beamtest.Accept("a spire")})
	fmt.Println(string(got.Result))

	fail := generators.New("fail", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		generators.Go(yield, func(context.Context, generators.Yield) { panic("oh") })
		return "", nil
	}, nil)
	for _, err := range fail.Run(context.Background(), json.RawMessage(`{}`)) {
		var panicked *driver.PanicError
		if errors.As(err, &panicked) {
			fmt.Println(err, panicked.Value, len(panicked.Stack) > 0)
		}
	}
	// Output:
	// "bears, a spire"
	// the tool failed: it panicked oh true
}

// A photon that was written for a channel converts it to a Yield in order to ask.
func ExampleFromChan() {
	count := generators.FromChan("count", func(ctx context.Context, _ struct{}, events chan<- generators.Event) (int, error) {
		events <- generators.Status("counting")
		return ask.Integer(generators.Sender(ctx, events), "more", "How many more?")
	}, nil)
	got := beamtest.Run(exampleTest{}, count, nil, beamtest.Script{"more": beamtest.Accept(3)})
	fmt.Println(got.Statuses(), string(got.Result))
	// Output:
	// [counting] 3
}

// A photon whose schemas are known only at run time, such as another server's tool.
func ExampleFromSchema() {
	input, err := generators.ParseSchema(json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := generators.SchemaFor[struct {
		Degrees float64 `json:"degrees"`
	}]()
	if err != nil {
		fmt.Println(err)
		return
	}
	weather := generators.FromSchema("weather", input, output, func(_ context.Context, args json.RawMessage, _ generators.Yield) (json.RawMessage, error) {
		return json.RawMessage(`{"degrees":21.5}`), nil
	}, nil)
	got := beamtest.Run(exampleTest{}, weather, json.RawMessage(`{"city":"Bern"}`), nil)
	fmt.Println(string(got.Result), output.Validate(got.Result))
	fmt.Println(output.Validate(json.RawMessage(`{"degrees":"warm"}`)))
	full, err := input.Check(json.RawMessage(`{"city":"Bern"}`)) // with defaults
	fmt.Println(string(full), err)
	// Output:
	// {"degrees":21.5} <nil>
	// /degrees must be a number, not text
	// {"city":"Bern"} <nil>
}

// Photons can be added while Beam serves them; its clients are told.
func ExampleRegistry() {
	registry, err := registry.NewRegistry()
	if err != nil {
		fmt.Println(err)
	}
	stop := registry.Watch(func() { fmt.Println("the list changed") })
	defer stop()
	noop := func(context.Context, struct{}, generators.Yield) (string, error) { return "", nil }
	fmt.Println(registry.Add(generators.New("noop", noop, nil)))
	fmt.Println(registry.Add(generators.New("-", noop, nil)))
	for _, p := range registry.All() {
		fmt.Println(p.Name(), p.Title())
	}
	registry.Remove("noop")
	_, found := registry.Lookup("noop")
	fmt.Println(found)
	// Output:
	// the list changed
	// <nil>
	// photon "-": a name must be 1 to 128 of the characters A-Z a-z 0-9 _ . - and must not begin with . or -
	// noop noop
	// the list changed
	// false
}

// A test says which folder the operator allows photons to read.
func ExampleWithRoot() {
	dir, err := os.MkdirTemp("", "root")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	list := generators.New("list", func(ctx context.Context, _ struct{}, _ generators.Yield) (bool, error) {
		folder, ok := generators.Root(ctx)
		return ok && folder == dir, nil
	}, nil)
	got := beamtest.RunContext(beamtest.WithRoot(context.Background(), dir), exampleTest{}, list, nil, nil)
	fmt.Println(string(got.Result))
	// Output:
	// true
}
