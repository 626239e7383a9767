package ask_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// BenchmarkAskAnswered measures a question that the driver answers at once. The target
// is less than 2 µs.
func BenchmarkAskAnswered(b *testing.B) {
	benchAsk(b, `{"name":"Ada"}`, func(yield generators.Yield) error {
		_, err := ask.Text(yield, "name", "What is your name?")
		return err
	})
}

// BenchmarkFormAnswered measures the same for a form with three fields.
func BenchmarkFormAnswered(b *testing.B) {
	benchAsk(b, `{"name":"Ada","tags":["a"],"count":3}`, func(yield generators.Yield) error {
		_, err := ask.Form[preferences](yield, "form", "What do you like?")
		return err
	})
}

// benchAsk measures asking, with a hundred questions per run.
func benchAsk(b *testing.B, content string, askOnce func(generators.Yield) error) {
	d := Driver{Provider: acceptAll(content)}
	left := b.N
	p := photon(func(yield generators.Yield) (int, error) {
		for range min(left, 100) {
			if err := askOnce(yield); err != nil {
				return 0, err
			}
			left--
		}
		return 0, nil
	})
	b.ReportAllocs()
	for left > 0 {
		if _, err := d.Run(b.Context(), p, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckManyChoices checks an answer to a question with 10,000 choices.
func BenchmarkCheckManyChoices(b *testing.B) {
	choices := make([]askdata.Choice, 10_000)
	for i := range choices {
		choices[i] = askdata.Choice{Value: strconv.Itoa(i), Title: "Town " + strconv.Itoa(i)}
	}
	form := askdata.Fields{{Name: "town", Type: "string", Choices: choices}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := form.Check(json.RawMessage(`{"town":"9999"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
