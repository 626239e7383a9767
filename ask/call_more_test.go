package ask_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

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
	for e, err := range p.Run(t.Context(), json.RawMessage("{}")) {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := e.(*generators.Call); ok {
			got = append(got, yieldedCall{c.Key, c.More})
			c.Settle(accepted(`{"` + c.Key + `":"x"}`).Reply())
		}
	}
	want := []yieldedCall{{"a", true}, {"b", false}, {"alone", false}, {"only", false}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
