// Command photons is the program whose data folders the compatibility tests
// keep: Beam with photons that ask every kind of question.
//
// Runs of these photons wait in the folders under testdata. What a photon
// yields, asks and returns must stay as it is: replay would refuse anything
// else.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

func main() {
	durable := &generators.Options{Durable: true}
	beam.Main(
		generators.New("interview", interview, durable),
		generators.New("vault", vault, durable),
		generators.New("crowd", askConcurrently, durable),
		generators.New("model", model, durable),
		generators.New("patient", patient, durable),
		generators.New("worker", worker, durable),
		generators.New("task", task, &generators.Options{Durable: true, Task: generators.TaskPreferred}),
		generators.New("brief", task, nil),
	)
}

type none struct{}

// Signup is a form with fields of each type.
type Signup struct {
	Name   string   `json:"name" minLength:"1" maxLength:"80"`
	Email  string   `json:"email" format:"email"`
	Age    *int     `json:"age,omitempty" minimum:"18"`
	Role   string   `json:"role" enum:"dev,ops"`
	Topics []string `json:"topics,omitempty" enum:"auth,logging,metrics"`
	News   *bool    `json:"news,omitempty" default:"true"`
}

// Interview is what an interview brings.
type Interview struct {
	Seat   string   `json:"seat"`
	Name   string   `json:"name"`
	Guests int      `json:"guests"`
	Price  float64  `json:"price"`
	Meal   string   `json:"meal"`
	Extras []string `json:"extras"`
	Day    string   `json:"day"`
	Moment string   `json:"moment"`
	Signup Signup   `json:"signup"`
	First  string   `json:"first"`
	Second bool     `json:"second"`
	Sure   bool     `json:"sure"`
}

// interview yields every kind of event and asks for most kinds of answers.
// The seat comes from the environment, so that a step that is repeated shows.
func interview(_ context.Context, _ none, yield generators.Yield) (in Interview, err error) {
	events(yield)
	if in.Seat, err = generators.Step(yield, "reserve", func(context.Context) (string, error) { return os.Getenv("TEST_SEAT"), nil }); err != nil {
		return in, err
	}
	_, failed := generators.Step(yield, "fail", func(context.Context) (none, error) { return none{}, errors.New("no table by the window") })
	yield(generators.Statusf("seat %s; %v", in.Seat, failed))
	if in.Name, err = ask.Text(yield, "name", "Who comes?", ask.Length(1, 40)); err != nil {
		return in, err
	}
	if err = in.details(yield); err != nil {
		return in, err
	}
	if in.Signup, err = ask.Form[Signup](yield, "signup", "Sign up"); err != nil {
		return in, err
	}
	err = ask.All(yield, ask.ForText("first", "The first?").Into(&in.First), ask.ForConfirm("second", "The second?").Into(&in.Second))
	if err != nil {
		return in, err
	}
	if err = ask.URL(yield, "consent", "Agree there", "https://example.com/consent"); err != nil {
		return in, err
	}
	in.Sure, err = ask.Confirm(yield, "sure", "Is that all?", ask.Destructive())
	return in, err
}

func (in *Interview) details(yield generators.Yield) (err error) {
	if in.Guests, err = ask.Integer(yield, "guests", "How many guests?", ask.Range(0, 9)); err != nil {
		return err
	}
	if in.Price, err = ask.Number(yield, "price", "At what price?"); err != nil {
		return err
	}
	if in.Meal, err = ask.Select(yield, "meal", "Which meal?", ask.Choices("fish", "beans")); err != nil {
		return err
	}
	if in.Extras, err = ask.MultiSelect(yield, "extras", "What else?", ask.Choices("tea", "cake", "fruit")); err != nil {
		return err
	}
	day, err := ask.Date(yield, "day", "Which day?")
	if err != nil {
		return err
	}
	moment, err := ask.DateTime(yield, "moment", "When exactly?")
	in.Day, in.Moment = day.Format(time.DateOnly), moment.UTC().Format(time.RFC3339)
	return err
}

// events yields one of each kind; the large file goes to the blob store.
func events(yield generators.Yield) {
	yield(generators.Status("looking around"))
	yield(generators.Busy("still looking"))
	yield(generators.Progress(1, 3, "a third"))
	yield(generators.Log(generators.Info, map[string]any{"tables": 4}))
	yield(generators.LogTo("kitchen", generators.Warning, "no soup"))
	yield(generators.Toast(generators.Info, "a toast"))
	yield(generators.Chunk("one "))
	yield(generators.Chunk("two"))
	yield(generators.Markdown("Notes", "# Notes\n\nnone"))
	yield(generators.Code("Code", "go", "package p"))
	yield(generators.JSON("Data", map[string]int{"a": 1}))
	yield(generators.TableOf("Tables", generators.Table{Columns: []string{"table", "seats"}, Rows: [][]any{{"1", 4}, {"2", 2}}}))
	yield(generators.ChartOf("Chart", generators.Chart{Kind: generators.Bars, Labels: []string{"a", "b"}, Series: []generators.Series{{Name: "s", Values: []float64{1, 2}}}}))
	yield(generators.File("small.txt", "text/plain", []byte("small")))
	yield(generators.File("large.txt", "text/plain", []byte(strings.Repeat("large\n", 100_000))))
	yield(generators.Resource("https://example.com/menu", "text/plain", []byte("menu")))
}

// vault returns what shows that the secret and the file came through whole.
func vault(_ context.Context, _ none, yield generators.Yield) (string, error) {
	word, err := ask.Secret(yield, "secret", "What is the word?")
	if err != nil {
		return "", err
	}
	file, err := ask.File(yield, "file", "What is to be locked up?")
	if err != nil {
		return "", err
	}
	if _, err := ask.Confirm(yield, "lock", "Lock it?"); err != nil {
		return "", err
	}
	content, err := file.Open()
	if err != nil {
		return "", err
	}
	defer content.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, content)
	under := sha256.Sum256([]byte(word))
	return fmt.Sprintf("%s: %d bytes %x under %x", file.Name, n, sum.Sum(nil)[:8], under[:8]), err
}

// askConcurrently asks from two goroutines at once.
func askConcurrently(_ context.Context, _ none, yield generators.Yield) (string, error) {
	var all sync.WaitGroup
	answers, errs := make([]string, 2), make([]error, 2)
	for i, key := range []string{"left", "right"} {
		all.Add(1)
		began := generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			defer all.Done()
			answers[i], errs[i] = ask.Text(yield, key, "What is on the "+key+"?")
		})
		if !began {
			all.Done()
			errs[i] = generators.ErrStopped
		}
	}
	all.Wait()
	return strings.Join(answers, " and "), errors.Join(errs...)
}

// model asks for folders and for a model's text.
func model(_ context.Context, _ none, yield generators.Yield) (string, error) {
	roots, err := ask.Roots(yield, "folders")
	if err != nil {
		return "", err
	}
	said, err := ask.Sample(yield, "poem", ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("A poem, please"))}, MaxTokens: 100})
	return fmt.Sprintf("%s in %d folders", said.Text(), len(roots)), err
}

// patient asks a question that expires soon, or in a year that is far off.
func patient(_ context.Context, in struct {
	Soon bool `json:"soon,omitempty"`
}, yield generators.Yield) (string, error) {
	wait := 300_000 * time.Hour
	if in.Soon {
		wait = 10 * time.Millisecond
	}
	return ask.Text(yield, "patience", "How long?", ask.Timeout(wait))
}

// worker has a step in hand as long as the environment says so.
func worker(ctx context.Context, _ none, yield generators.Yield) (string, error) {
	first, err := generators.Step(yield, "first", func(context.Context) (string, error) { return os.Getenv("TEST_SEAT"), nil })
	if err != nil {
		return "", err
	}
	second, err := generators.Step(yield, "second", func(ctx context.Context) (string, error) {
		if os.Getenv("TEST_HOLD") != "" {
			<-ctx.Done()
		}
		return "done", ctx.Err()
	})
	return first + " " + second, err
}

func task(_ context.Context, _ none, yield generators.Yield) (string, error) {
	yield(generators.Status("at work"))
	word, err := ask.Text(yield, "word", "Which word?")
	if err == nil && word == "fail" {
		err = errors.New("a word that fails")
	}
	return word, err
}
