package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// run runs a function that asks, with a script that stands for the people who answer,
// and prints what the function returns.
func run[T any](fn func(yield generators.Yield) (T, error), script beamtest.Script) {
	got := beamtest.Run(exampleTest{}, photon(fn), nil, script)
	if got.Err != nil {
		fmt.Println("error:", got.Err)
		return
	}
	fmt.Println(string(got.Result))
}

// exampleTest stands for the *testing.T of a test, which an example doesn't have.
type exampleTest struct{ testing.TB }

func (exampleTest) Helper()                   {}
func (exampleTest) Context() context.Context  { return context.Background() }
func (exampleTest) Error(args ...any)         { fmt.Println(args...) }
func (exampleTest) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (exampleTest) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (exampleTest) Cleanup(func())            {}
func (exampleTest) TempDir() string {
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		panic(err)
	}
	return dir
}

// Options refine a question. The ways in which it can go unanswered are errors.
func ExampleText() {
	name := func(yield generators.Yield) (string, error) {
		return ask.Text(yield, "code", "Which airport?", ask.Title("Airport"), ask.Description("Its three letters."),
			ask.Pattern("^[A-Z]{3}$", "must be three capital letters"), ask.Default("ZRH"), ask.Timeout(time.Hour))
	}
	run(name, beamtest.Script{"code": beamtest.Accept("BRN")})
	for _, script := range []beamtest.Script{
		{"code": beamtest.Decline()},
		{"code": beamtest.Cancel()},
		{"code": beamtest.Fail(ask.ErrTimeout)},
		{"code": beamtest.Fail(ask.ErrUnsupported)},
	} {
		run(func(yield generators.Yield) (string, error) {
			_, err := name(yield)
			switch {
			case errors.Is(err, ask.ErrDeclined):
				return "said no", nil
			case errors.Is(err, ask.ErrCancelled):
				return "dismissed it", nil
			case errors.Is(err, ask.ErrTimeout):
				return "took too long", nil
			case errors.Is(err, ask.ErrInvalid):
				return "typed too much that is not an airport", nil
			case errors.Is(err, ask.ErrUnsupported):
				return "is away", nil
			}
			return "", err
		}, script)
	}
	// Output:
	// "BRN"
	// "said no"
	// "dismissed it"
	// "took too long"
	// "is away"
}

// Rules that are common have an option of their own.
func ExampleOption() {
	run(func(yield generators.Yield) ([]string, error) {
		mail, err := ask.Text(yield, "mail", "Your email?", ask.Email())
		if err != nil {
			return nil, err
		}
		site, err := ask.Text(yield, "site", "Your site?", ask.Address(), ask.Optional())
		if err != nil {
			return nil, err
		}
		story, err := ask.Text(yield, "story", "Your story?", ask.Long())
		return []string{mail, site, story}, err
	}, beamtest.Script{
		"mail":  beamtest.Accept("ada@example.org"),
		"site":  beamtest.Accept(json.RawMessage(`{}`)), // left blank
		"story": beamtest.Accept("Once upon a time\nthere was an engine."),
	})
	// Output:
	// ["ada@example.org","","Once upon a time\nthere was an engine."]
}

// A test can look at what was asked: the kinds of the questions, and their rules.
func ExampleQuestion() {
	remove := photon(func(yield generators.Yield) (bool, error) {
		files, err := ask.Files(yield, "files", "Which lists?", ask.Accepting(".csv"), ask.Count(1, 2), ask.MaxSize(1000))
		if err != nil {
			return false, err
		}
		if err := ask.URL(yield, "rules", "Read the rules", "https://shop.example/rules", ask.UntilDone()); err != nil {
			return false, err
		}
		return ask.Confirm(yield, "sure", fmt.Sprintf("Delete %d customers?", len(files)), ask.Destructive(), ask.Verbs("Delete", "Keep"), ask.Timeout(time.Hour),
			ask.Showing(generators.TableOf("Lists", generators.Table{Columns: []string{"file"}, Rows: [][]any{{files[0].Name}}})))
	})
	got := beamtest.Run(exampleTest{}, remove, nil, beamtest.Script{
		"files": beamtest.Accept([]beamtest.File{{Name: "a.csv", Content: []byte("a")}}),
		"rules": beamtest.Accept(nil),
		"sure":  beamtest.Accept(true),
	})

	files, rules, sure := got.Questions["files"], got.Questions["rules"], got.Questions["sure"]
	fmt.Println(files.Kind, rules.Kind, sure.Kind, sure.Message, sure.Evidence[0].Title)
	recorded, _ := json.Marshal(rules)
	fmt.Println(string(recorded))
	// Output:
	// file url confirm Delete 1 customers? Lists
	// {"kind":"url","message":"Read the rules","url":"https://shop.example/rules","untilDone":true}
}

// A question shows what the person decides by.
func ExampleShowing() {
	migrate := generators.New("migrate", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "apply", "Apply 1 migration?", ask.Destructive(), ask.Verbs("Apply", "Keep"),
			ask.Showing(
				generators.Code("001.sql", "sql", "ALTER TABLE users ADD mail TEXT;"),
				generators.Diff("schema.sql", "name TEXT\n", "name TEXT\nmail TEXT\n")))
	}, nil)
	got := beamtest.Run(exampleTest{}, migrate, nil, beamtest.Script{"apply": beamtest.Accept(true)})
	for _, shown := range got.Questions["apply"].Evidence {
		fmt.Printf("%s (%s):\n%s\n", shown.Title, shown.MediaType, shown.Body)
	}
	// Output:
	// 001.sql (text/x-sql):
	// ALTER TABLE users ADD mail TEXT;
	// schema.sql (text/x-diff):
	// @@ -1 +1,2 @@
	//  name TEXT
	// +mail TEXT
}
