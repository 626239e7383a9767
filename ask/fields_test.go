package ask_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

func TestForFields(t *testing.T) {
	form := askdata.Fields{{Name: "name", Type: "string", Required: true}, {Name: "age", Type: "integer"}}
	prompt := asking.ForFields("k", "Who?", form, ask.Preset("name", "Ada"))
	q := questionOf(t, prompt)
	if q.Kind != askdata.KindForm || len(q.Fields) != 2 || string(q.Fields[0].Default) != `"Ada"` || form[0].Default != nil {
		t.Errorf("the question is %+v, want the form %+v", q, form)
	}
	got, err := runAsk(t, Driver{Provider: acceptAll(`{"age":4.0,"name":"Bo","x":1}`)}, prompt.Ask)
	if err != nil || got != `{"name":"Bo","age":4}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := runAsk(t, Driver{Provider: acceptAll(`{"age":"old"}`)}, prompt.Ask); fieldErrors(t, err)["/name"] != "is required" {
		t.Errorf("an invalid answer: %v", err)
	}
	if got, err := runAsk(t, Driver{Provider: acceptAll(``)}, asking.ForFields("k", "Go on?", nil).Ask); err != nil || got != `{}` {
		t.Errorf("a form without fields: %s, %v", got, err)
	}
	_, err = runAsk(t, Driver{}, asking.ForFields("k", "m", askdata.Fields{{Name: "a", Type: "object"}}).Ask)
	if err == nil || !strings.Contains(err.Error(), `field "a": can't be asked`) {
		t.Errorf("an invalid form: %v", err)
	}
}

func TestUntilDone(t *testing.T) {
	q := questionOf(t, ask.ForURL("k", "m", "https://example.org", ask.UntilDone()))
	raw, err := json.Marshal(q)
	if err != nil || !strings.Contains(string(raw), `"untilDone":true`) {
		t.Errorf("recorded: %s, %v", raw, err)
	}
	if q := questionOf(t, ask.ForURL("k", "m", "https://example.org")); q.UntilDone {
		t.Error("without the option, UntilDone is set")
	}
	if _, err := runAsk(t, Driver{}, ask.ForText("k", "m", ask.UntilDone()).Ask); err == nil || !strings.Contains(err.Error(), "ask.UntilDone is for [url]") {
		t.Errorf("for a text: %v", err)
	}
}
