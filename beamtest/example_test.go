package beamtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// t stands for the *testing.T of a test, which an example doesn't have.
var t testing.TB = exampleTest{}

type exampleTest struct{ testing.TB }

func (exampleTest) Helper()                           {}
func (exampleTest) Context() context.Context          { return context.Background() }
func (exampleTest) Error(args ...any)                 { fmt.Println(args...) }
func (exampleTest) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (exampleTest) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (exampleTest) Cleanup(func())                    {}
func (exampleTest) Output() io.Writer                 { return os.Stderr }
func (exampleTest) TempDir() string {
	dir, err := os.MkdirTemp("", "beamtest")
	if err != nil {
		panic(err)
	}
	return dir
}

// A photon is tested by a script that answers its questions. The t of these examples is
// the *testing.T of a test.
func Example() {
	// The photon to test asks for the name of a place and releases to it.
	type Target struct {
		Version string `json:"version"`
	}
	release := func(context.Context) (string, error) { return "release 7", nil }
	deploy := generators.New("deploy", func(ctx context.Context, in Target, yield generators.Yield) (string, error) {
		env, err := ask.Select(yield, "env", "Where to?", ask.Choices("staging", "production"))
		if err != nil {
			return "", err
		}
		if env == "production" {
			sure, err := ask.Confirm(yield, "sure", "Deploy "+in.Version+" to production?", ask.Destructive(),
				ask.Showing(generators.Markdown("Changes", "- "+in.Version+" is faster")))
			if err != nil || !sure {
				return "nothing", err
			}
		}
		yield(generators.Statusf("Deploying to %s", env))
		return generators.Step(yield, "release", release)
	}, &generators.Options{Durable: true})

	// The script says what the person does with each question, by its key. Accept takes
	// what asking returns: a string for ask.Select, a bool for ask.Confirm.
	script := beamtest.Script{
		"env":  beamtest.Accept("production"),
		"sure": beamtest.Accept(true),
	}
	got := beamtest.Run(t, deploy, Target{Version: "1.2"}, script)

	// What came of it are plain values, to compare as you like.
	fmt.Println(beamtest.Decode[string](t, got))
	fmt.Println(got.Asked, got.Questions["sure"].Message)
	fmt.Println(got.Statuses())
	for _, step := range got.Steps {
		fmt.Printf("%s: %s\n", step.Key, step.Value)
	}

	// A person can also say no. The photon's error is as the photon returned it.
	script["sure"] = beamtest.Decline()
	got = beamtest.Run(t, deploy, Target{Version: "1.2"}, script)
	fmt.Println(errors.Is(got.Err, ask.ErrDeclined), len(got.Steps))

	// Output:
	// release 7
	// [env sure] Deploy 1.2 to production?
	// [Deploying to production]
	// release: "release 7"
	// true 0
}

// A photon that keeps something outside of a step loses it in a crash. Replay finds it.
func ExampleReplay() {
	photon := generators.New("order", func(_ context.Context, _ struct{}, yield generators.Yield) (int, error) {
		var price int // wrong: nothing sets it when the step is replayed
		_, err := generators.Step(yield, "look up", func(context.Context) (string, error) {
			price = 42
			return "lamp", nil
		})
		if err != nil {
			return 0, err
		}
		_, err = ask.Confirm(yield, "buy", "Buy it?")
		return price, err
	}, &generators.Options{Durable: true})

	beamtest.Replay(t, photon, nil, beamtest.Script{"buy": beamtest.Accept(true)})
	// Output:
	// photon order is not deterministic. After a crash when step "look up" was recorded:
	// 	it returned 0
	// without a crash:
	// 	it returned 42
	// Code outside of generators.Step runs again after a crash and must do the same again: read clocks, files and random numbers in steps, and use nothing of a step but its return value.
}

// A photon reads files that the test makes.
func ExampleFile() {
	count := generators.New("count", func(_ context.Context, _ struct{}, yield generators.Yield) (int, error) {
		file, err := ask.File(yield, "text", "Which text?", ask.Accepting(".txt"))
		if err != nil {
			return 0, err
		}
		r, err := file.Open()
		if err != nil {
			return 0, err
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		return len(strings.Fields(string(text))), err
	}, nil)

	got := beamtest.Run(t, count, nil, beamtest.Script{
		"text": beamtest.Accept(beamtest.File{Name: "story.txt", Content: []byte("Once upon a time")}),
	})
	fmt.Println(string(got.Result), got.Err)

	got = beamtest.Run(t, count, nil, beamtest.Script{
		"text": beamtest.Accept(beamtest.File{Name: "photo.png", Content: []byte("\x89PNG")}),
	})
	fmt.Println(got.Err)
	// Output:
	// 4 <nil>
	// /file must be .txt; photo.png is not accepted
}

// A question that the script doesn't answer fails the test, and the message has the line
// to add.
func ExampleScript() {
	photon := generators.New("hello", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		first, err := ask.Text(yield, "name", "What is your name?")
		if err != nil {
			return "", err
		}
		second, err := ask.Text(yield, "name", "And yours?") // the key is name#2
		return first + " and " + second, err
	}, nil)

	beamtest.Run(t, photon, nil, beamtest.Script{"name": beamtest.Accept("Ada")})
	// Output:
	// the photon asked "name#2" (text: And yours?), and the script only answers "name". To answer it, add to the script:
	// 	"name#2": beamtest.Accept("…"),
}

// A question that says who may answer is answered by somebody who may.
func ExampleResponse_As() {
	deploy := generators.New("deploy", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "approve", "Deploy?", ask.From(ask.Role("ops")), ask.NotCaller())
	}, nil)

	ada := generators.Caller{ID: "user:ada", Roles: []string{"ops"}}
	got := beamtest.Run(t, deploy, nil, beamtest.Script{"approve": beamtest.Accept(true).As(ada)})

	fmt.Println(beamtest.Decode[bool](t, got))
	// Output: true
}
