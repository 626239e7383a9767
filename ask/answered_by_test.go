package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// TestAnsweredBy settles questions by a person, by nobody, and by an unknown person.
func TestAnsweredBy(t *testing.T) {
	by := map[string]*generators.Caller{"one": {}, "two": {}, "three": {ID: "left over"}, "form": {}}
	p := generators.New("p", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		if _, err := ask.Text(yield, "one", "One?", ask.AnsweredBy(by["one"])); err != nil {
			return "", err
		}
		var two, three string
		err := ask.All(yield, ask.ForText("two", "Two?", ask.AnsweredBy(by["two"])).Into(&two), ask.ForText("three", "Three?", ask.AnsweredBy(by["three"])).Into(&three))
		if !errors.Is(err, ask.ErrDeclined) || !errors.Is(err, ask.ErrTimeout) {
			t.Errorf("got %v", err)
		}
		_, err = ask.Form[struct{ A string }](yield, "form", "Form?", ask.AnsweredBy(by["form"]))
		return "", err
	}, nil)
	ada, bob := generators.Caller{ID: "ada", Name: "Ada"}, generators.Caller{ID: "bob"}
	replies := map[string]driver.Reply{
		"one":   {Value: json.RawMessage(`{"one":"1"}`), By: &ada},
		"two":   {Err: ask.ErrDeclined, By: &bob},
		"three": {Err: ask.ErrTimeout},
		"form":  {Value: json.RawMessage(`{"A":"a"}`), By: &ada},
	}
	for e, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := driver.CallOf(e); ok {
			c.Settle(replies[c.Key])
		}
	}
	for key, want := range map[string]string{"one": "ada", "two": "bob", "three": "", "form": "ada"} {
		if by[key].ID != want {
			t.Errorf("%s was answered by %+v, want %q", key, by[key], want)
		}
	}
	if by["one"].Name != "Ada" {
		t.Errorf("got %+v", by["one"])
	}
}

func TestAnsweredByNil(t *testing.T) {
	p := generators.New("p", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return ask.Text(yield, "one", "One?", ask.AnsweredBy(nil))
	}, nil)
	for _, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
		if err == nil {
			t.Error("a nil variable is accepted")
		}
	}
}
