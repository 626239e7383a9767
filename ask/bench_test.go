package ask_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// BenchmarkAskAnswered is an ask that the driver answers at once: made, yielded,
// checked, decoded. Target: less than 2 µs.
func BenchmarkAskAnswered(b *testing.B) {
	benchAsk(b, `{"name":"Ada"}`, func(yield generators.Yield) error {
		_, err := ask.Text(yield, "name", "What is your name?")
		return err
	})
}

// BenchmarkFormAnswered is the same for a form of three fields.
func BenchmarkFormAnswered(b *testing.B) {
	benchAsk(b, `{"name":"Ada","tags":["a"],"count":3}`, func(yield generators.Yield) error {
		_, err := ask.Form[preferences](yield, "form", "What do you like?")
		return err
	})
}

// benchAsk asks in runs of a hundred.
func benchAsk(b *testing.B, content string, put func(generators.Yield) error) {
	d := ask.Driver{Provider: acceptAll(content)}
	left := b.N
	p := photon(func(yield generators.Yield) (int, error) {
		for range min(left, 100) {
			if err := put(yield); err != nil {
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

// BenchmarkCheckOfManyChoices: a list of ten thousand towns is one question.
func BenchmarkCheckOfManyChoices(b *testing.B) {
	choices := make([]ask.Choice, 10_000)
	for i := range choices {
		choices[i] = ask.Choice{Value: strconv.Itoa(i), Title: "Town " + strconv.Itoa(i)}
	}
	form := ask.Fields{{Name: "town", Type: "string", Choices: choices}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := form.Check(json.RawMessage(`{"town":"9999"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
