package ask_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

type booking struct {
	Guest  string    `json:"guest" title:"Who comes?" minLength:"1" maxLength:"40"`
	Table  string    `json:"table"`
	Extras []string  `json:"extras"`
	People int       `json:"people" minimum:"1" maximum:"8" default:"2"`
	When   time.Time `json:"when"`
	Day    string    `json:"day,omitempty" format:"date"`
	Clock  string    `json:"clock,omitempty" format:"time"`
	Note   *string   `json:"note,omitempty"`
	Quiet  bool      `json:"quiet"`
}

var bookingOptions = []ask.Option{
	ask.Choose("table", ask.Choice{Value: "t1", Title: "Window"}, ask.Choice{Value: "t2"}),
	ask.Choose("extras", ask.Choices("cake", "candles")...),
	ask.Preset("guest", "Ada"),
	ask.Preset("extras", []string{"cake"}),
}

func TestForm(t *testing.T) {
	prompt := ask.ForForm[booking]("dinner", "When?", bookingOptions...)
	q := questionOf(t, prompt)
	if q.Kind != askdata.KindForm || len(q.Fields) != 9 {
		t.Fatalf("asked: %+v", q)
	}
	for i, name := range []string{"guest", "table", "extras", "people", "when", "day", "clock", "note", "quiet"} {
		if q.Fields[i].Name != name {
			t.Errorf("field %d is %q, want %q", i, q.Fields[i].Name, name)
		}
	}
	if f := q.Fields.Field("guest"); string(f.Default) != `"Ada"` || f.Label() != "Who comes?" || !f.Required {
		t.Errorf("guest: %+v", f)
	}
	if f := q.Fields.Field("table"); len(f.Choices) != 2 || f.Choices[0].Label() != "Window" || f.Choices[1].Label() != "t2" {
		t.Errorf("table: %+v", f)
	}
	d := Driver{Provider: acceptAll(`{"guest":"Bob","table":"t2","extras":[],"people":4,"when":"2026-05-01T19:00:00Z","clock":"18:30","quiet":true}`)}
	value, err := runAsk(t, d, prompt.Ask)
	want := `{"guest":"Bob","table":"t2","extras":[],"people":4,"when":"2026-05-01T19:00:00Z","clock":"18:30","quiet":true}`
	if err != nil || value != want {
		t.Errorf("got %s (%v), want %s", value, err, want)
	}
	_, err = runAsk(t, Driver{Provider: acceptAll(`{"guest":"","table":"t3","extras":["wine"],"people":9,"when":"tomorrow","day":"x","clock":"18:30:00Z","note":null}`)}, prompt.Ask)
	wrong := map[string]string{
		"/guest": "must not be empty", "/table": "must be one of t1, t2", "/extras/0": "must be one of cake, candles",
		"/people": "must be at most 8", "/when": "must be a date and time with its zone, such as 2026-12-31T18:30:00Z",
		"/day": "must be a date, such as 2026-12-31", "/clock": "must be a time of day, such as 18:30",
		"/note": "must be text, not null", "/quiet": "is required",
	}
	if got := fieldErrors(t, err); !maps.Equal(got, wrong) {
		t.Errorf("got %q\nwant %q", got, wrong)
	}
}

// The options of one question don't affect the next one.
func TestFormOptionsAreNotShared(t *testing.T) {
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _ = ask.ForForm[booking]("k", "m", bookingOptions...) })
	}
	all.Wait()
	if err := ask.Fits[booking](); err != nil {
		t.Errorf("with choices that are set when it is asked: %v", err)
	}
	_, err := runAsk(t, Driver{}, ask.ForForm[booking]("k", "m").Ask)
	if err == nil || !strings.Contains(err.Error(), `field "extras": is a list without choices`) {
		t.Errorf("without choices: %v", err)
	}
}

// Asking a question that nobody could answer returns an error that names the field.
func TestInvalidQuestions(t *testing.T) {
	type twice struct {
		A string `json:"a"`
	}
	form := func(opts ...ask.Option) error {
		_, err := runAsk(t, Driver{}, ask.ForForm[booking]("k", "m", append(bookingOptions[:2:2], opts...)...).Ask)
		return err
	}
	text := func(opts ...ask.Option) error {
		_, err := runAsk(t, Driver{}, ask.ForText("k", "m", opts...).Ask)
		return err
	}
	number := func(opts ...ask.Option) error {
		_, err := runAsk(t, Driver{}, ask.ForNumber("k", "m", opts...).Ask)
		return err
	}
	choose := func(choices []ask.Choice, opts ...ask.Option) error {
		_, err := runAsk(t, Driver{}, ask.ForMultiSelect("k", "m", choices, opts...).Ask)
		return err
	}
	day := func(opts ...ask.Option) error {
		_, err := runAsk(t, Driver{}, ask.ForDate("k", "m", opts...).Ask)
		return err
	}
	nan := json.Number("x")
	tests := []struct {
		err  error
		want string
	}{
		{text(ask.Default(3)), `field "k": its default 3 must be text, not a number`},
		{text(ask.Default("abc"), ask.Length(0, 2)), `field "k": its default "abc" must be at most 2 characters long; it has 3`},
		{text(ask.Length(0, 2), ask.Default("abc")), `field "k": its default "abc" must be at most 2 characters`},
		{text(ask.Default("x"), ask.Pattern("^[A-Z]$", "must be a capital")), `its default "x" must be a capital`},
		{text(ask.Default("x"), ask.Email()), `its default "x" must be an email address`},
		{text(ask.Default(nan)), "ask.Default"},
		{text(ask.Length(3, 2)), `field "k": can't have 3 to 2 characters`},
		{text(ask.Length(-1, 0)), `field "k": can't have -1`},
		{text(ask.Pattern("(", "")), "ask.Pattern: error parsing regexp"},
		{text(ask.Timeout(-time.Second)), "ask.Timeout"},
		{text(ask.Range(0, 1)), "ask.Range is for [number integer], not for a text"},
		{text(ask.Accepting(".csv")), "ask.Accepting is for files, not for a text"},
		{text(ask.Destructive()), "ask.Destructive is for [confirm], not for a text"},
		{text(ask.Choose("k", ask.Choices("a")...)), `ask.Choose: this text question has no field "k"`},
		{number(ask.Default("1")), `its default "1" must be a number, not text`},
		{number(ask.Default(1), ask.Range(2, 3)), `field "k": its default 1 must be at least 2`},
		{number(ask.Range(3, 2)), `field "k": can't be from 3 to 2`},
		{number(ask.Step(0)), `field "k": needs a step greater than 0`},
		{number(ask.Default(0.5), ask.Step(0.2)), "its default 0.5 must be a multiple of 0.2"},
		{choose(nil), `field "k": is a list without choices`},
		{choose(ask.Choices("a", "a")), `field "k": has the choice "a" twice`},
		{choose(ask.Choices("a", "b"), ask.Items(3, 0)), `field "k": can't have 3 items of 2 choices`},
		{choose(ask.Choices("a", "b"), ask.Items(2, 1)), `field "k": can't have 2 to 1 items`},
		{choose(ask.Choices("a", "b"), ask.Default("a")), `its default "a" must be a list, not text`},
		{choose(ask.Choices("a", "b"), ask.Default([]string{"c"})), `its default ["c"] must be one of a, b`},
		{day(ask.Default("tomorrow")), `its default "tomorrow" must be a date`},
		{day(ask.Default(may1), ask.Between(may31, time.Time{})), `its default "2026-05-01" must not be before 2026-05-31`},
		{day(ask.Between(may31, may1)), `field "k": can't be from 2026-05-31 to 2026-05-01`},
		{form(ask.Preset("people", 9)), `field "people": its default 9 must be at most 8`},
		{form(ask.Preset("guest", nil)), `field "guest": its default null must be text, not null`},
		{form(ask.Preset("table", "t9")), `field "table": its default "t9" must be one of t1, t2`},
		{form(ask.Preset("nobody", 1)), `ask.Preset: this form question has no field "nobody"`},
		{form(ask.Choose("people", ask.Choices("a")...)), `is for strings and lists of strings, and the type of "people" is integer`},
		{form(ask.Choose("table")), `the field "table" needs at least one choice`},
		{form(ask.Default("x")), "ask.Default is for questions with one field, not for a form"},
	}
	for _, tt := range tests {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || errors.Is(tt.err, ask.ErrUnsupported) {
			t.Errorf("the error is %v, want %q", tt.err, tt.want)
		}
	}
	if _, err := runAsk(t, Driver{}, ask.ForText("", "m").Ask); err == nil || !strings.Contains(err.Error(), "a question needs a key") {
		t.Errorf("without a key: %v", err)
	}
	if _, err := runAsk(t, Driver{}, ask.ForForm[twice]("", "m").Ask); err == nil || !strings.Contains(err.Error(), "a question needs a key") {
		t.Errorf("a form without a key: %v", err)
	}
	if _, err := runAsk(t, Driver{}, ask.ForSelect("k", "m", nil).Ask); err == nil || !strings.Contains(err.Error(), "needs at least one choice") {
		t.Errorf("without choices: %v", err)
	}
	if _, err := runAsk(t, Driver{}, ask.ForSecret("k", "m", ask.Default("x")).Ask); err == nil || !strings.Contains(err.Error(), "a secret can't have a default") {
		t.Errorf("a secret with a default: %v", err)
	}
}

// Questions have valid defaults in the format of the field.
func TestValidDefaults(t *testing.T) {
	tests := []struct {
		q    *askdata.Question
		want string
	}{
		{questionOf(t, ask.ForText("k", "m", ask.Default("a"))), `"a"`},
		{questionOf(t, ask.ForConfirm("k", "m", ask.Default(true))), `true`},
		{questionOf(t, ask.ForInteger("k", "m", ask.Default(4))), `4`},
		{questionOf(t, ask.ForDate("k", "m", ask.Default(may1))), `"2026-05-01"`},
		{questionOf(t, ask.ForDateTime("k", "m", ask.Default(may31))), `"2026-05-31T18:00:00Z"`},
		{questionOf(t, ask.ForMultiSelect("k", "m", ask.Choices("a", "b"), ask.Default([]string{"b"}))), `["b"]`},
		{questionOf(t, ask.ForSelect("k", "m", []ask.Choice{{Value: "", Title: "None"}}, ask.Default(""))), `""`},
	}
	for _, tt := range tests {
		if got := string(tt.q.Fields[0].Default); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.q.Kind, got, tt.want)
		}
	}
}

// A blank field is nil if it is a pointer, and the zero value otherwise.
func TestBlankFieldsOfAForm(t *testing.T) {
	type blank struct {
		Text    *string  `json:"text,omitempty"`
		Number  *float64 `json:"number,omitempty"`
		Whole   *int     `json:"whole,omitempty"`
		Plain   int      `json:"plain,omitempty"`
		Decided *bool    `json:"decided,omitempty"`
	}
	put := func(yield generators.Yield) (blank, error) { return ask.Form[blank](yield, "k", "m") }
	for content, want := range map[string]string{
		`{}`: `{}`,
		`{"text":"","number":0,"whole":0,"plain":0,"decided":false}`: `{"text":"","number":0,"whole":0,"decided":false}`,
	} {
		if got, err := runAsk(t, Driver{Provider: acceptAll(content)}, put); err != nil || got != want {
			t.Errorf("%s: got %s, %v", content, got, err)
		}
	}
}
