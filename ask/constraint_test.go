package ask_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// The bounds in the date tests.
var (
	may1  = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	may31 = time.Date(2026, 5, 31, 18, 0, 0, 0, time.UTC)
)

// TestConstraints checks an answer that violates each constraint, and one that
// satisfies it.
func TestConstraints(t *testing.T) {
	text := func(opts ...ask.Option) *askdata.Question { return questionOf(t, ask.ForText("k", "m", opts...)) }
	number := func(opts ...ask.Option) *askdata.Question { return questionOf(t, ask.ForNumber("k", "m", opts...)) }
	integer := func(opts ...ask.Option) *askdata.Question { return questionOf(t, ask.ForInteger("k", "m", opts...)) }
	multi := func(opts ...ask.Option) *askdata.Question {
		return questionOf(t, ask.ForMultiSelect("k", "m", ask.Choices("a", "b", "c", "d"), opts...))
	}
	date := func(opts ...ask.Option) *askdata.Question { return questionOf(t, ask.ForDate("k", "m", opts...)) }
	moment := func(opts ...ask.Option) *askdata.Question { return questionOf(t, ask.ForDateTime("k", "m", opts...)) }
	titled := questionOf(t, ask.ForSelect("k", "m", []ask.Choice{{"d", "Development"}, {"p", "Production"}}))
	const (
		email   = "must be an email address, such as ada@example.org"
		uri     = "must be a complete web address, such as https://example.org/page"
		day     = "must be a date, such as 2026-12-31"
		instant = "must be a date and time with its zone, such as 2026-12-31T18:30:00Z"
	)
	tests := []struct {
		name, bad, want, good string
		q                     *askdata.Question
	}{
		{"required", ``, "is required", `"a"`, text()},
		{"text", `1`, "must be text, not a number", `""`, text()},
		{"text", `null`, "must be text, not null", `"null"`, text()},
		{"text", `["a"]`, "must be text, not a list", `"😀"`, text()},
		{"secret", `{}`, "must be text, not an object", `" "`, questionOf(t, ask.ForSecret("k", "m"))},
		{"secret length", `"abc"`, "must be at least 8 characters long; it has 3", `"abcdefgh"`, questionOf(t, ask.ForSecret("k", "m", ask.Length(8, 0)))},
		{"least length", `""`, "must not be empty", `"a"`, text(ask.Length(1, 0))},
		{"least length", `"ü"`, "must be at least 2 characters long; it has 1", `"üü"`, text(ask.Length(2, 0))},
		{"most length", `"üüü"`, "must be at most 2 characters long; it has 3", `"üü"`, text(ask.Length(0, 2))},
		{"pattern", `"ab"`, "must be three capital letters", `"ABC"`, text(ask.Pattern(`^[A-Z]{3}$`, "must be three capital letters"))},
		{"pattern without a hint", `"ab"`, "must match the pattern ^[A-Z]+$", `"AB"`, text(ask.Pattern(`^[A-Z]+$`, ""))},
		{"all at once", `"ab"`, "must be at least 3 characters long; it has 2; must match the pattern ^[A-Z]+$", `"ABC"`, text(ask.Pattern(`^[A-Z]+$`, ""), ask.Length(3, 4))},
		{"email", `"ada"`, email, `"ada@example.org"`, text(ask.Email())},
		{"email", `"a b@c.d"`, email, `"ab@c.d"`, text(ask.Email())},
		{"address", `"example.org"`, uri, `"https://example.org"`, text(ask.Address())},
		{"long text", `5`, "must be text, not a number", `"a\nb"`, text(ask.Long())},
		{"confirm", `"yes"`, "must be true or false, not text", `false`, questionOf(t, ask.ForConfirm("k", "m"))},
		{"confirm", ``, "is required", `true`, questionOf(t, ask.ForConfirm("k", "m"))},
		{"select", `"c"`, "must be one of a, b", `"b"`, questionOf(t, ask.ForSelect("k", "m", ask.Choices("a", "b")))},
		{"select", `1`, "must be text, not a number", `"b"`, questionOf(t, ask.ForSelect("k", "m", ask.Choices("a", "b")))},
		{"titled select", `"Production"`, "must be one of d, p", `"p"`, titled},
		{"multiselect", `"a"`, "must be a list, not text", `[]`, multi()},
		{"multiselect", `["a","x"]`, "/1 must be one of a, b, c, d", `["d","a"]`, multi()},
		{"multiselect", `["a",1]`, "/1 must be text, not a number", `["a"]`, multi()},
		{"least items", `["a"]`, "must have at least 2 items; it has 1", `["a","b"]`, multi(ask.Items(2, 0))},
		{"least items", ``, "is required", `["a"]`, multi(ask.Items(1, 0))},
		{"most items", `["a","b"]`, "must have at most 1 item; it has 2", `["a"]`, multi(ask.Items(0, 1))},
		{"an item twice", `["a","b","a"]`, "must not have the same item twice", `["a","b"]`, multi()},
		{"number", `"1"`, "must be a number, not text", `1e2`, number()},
		{"number", `1e400`, "must be a number of ordinary size", `1e308`, number()},
		{"number", `1` + strings.Repeat("0", 500), "must be a number of ordinary size", `100`, number()},
		{"range", `-0.5`, "must be at least 0", `0`, number(ask.Range(0, 1))},
		{"range", `1.0000000000000000000000001`, "must be at most 1", `1`, number(ask.Range(0, 1))},
		{"range without an end", `-1`, "must be at least 0", `1e300`, number(ask.Range(0, math.Inf(1)))},
		{"range without a begin", `1`, "must be at most 0.5", `-1e300`, number(ask.Range(math.Inf(-1), 0.5))},
		{"a tiny step", `1e-9`, "must be a multiple of 2e-09", `4e-9`, number(ask.Step(2e-9))},
		{"step", `0.25`, "must be a multiple of 0.1", `0.3`, number(ask.Step(0.1))},
		{"integer", `1.5`, "must be a whole number", `1.50e1`, integer()},
		{"integer", `true`, "must be a whole number, not true or false", `-3`, integer()},
		{"integer", `9223372036854775808`, "must be between -9223372036854775808 and 9223372036854775807", `9223372036854775807`, integer()},
		{"integer range", `11`, "must be at most 10", `10.0`, integer(ask.Range(1, 10))},
		{"integer step", `7`, "must be a multiple of 5", `-10`, integer(ask.Step(5))},
		{"date", `"1.5.2026"`, day, `"2026-05-01"`, date()},
		{"date", `"2026-02-29"`, day, `"2028-02-29"`, date()},
		{"date too early", `"2026-04-30"`, "must not be before 2026-05-01", `"2026-05-01"`, date(ask.Between(may1, time.Time{}))},
		{"date too late", `"2026-06-01"`, "must not be after 2026-05-31", `"2026-05-31"`, date(ask.Between(may1, may31))},
		{"date-time", `"2026-05-01T10:00"`, instant, `"2026-05-01T10:00:00Z"`, moment()},
		{"date-time", `"2026-06-30T23:59:60Z"`, instant, `"2026-06-30T23:59:59.5Z"`, moment()},
		{"moment too early", `"2026-05-01T01:59:59+02:00"`, "must not be before 2026-05-01T00:00:00Z", `"2026-05-01T02:00:00+02:00"`, moment(ask.Between(may1, may31))},
		{"moment too late", `"2026-05-31T18:00:01Z"`, "must not be after 2026-05-31T18:00:00Z", `"2026-05-31T20:00:00+02:00"`, moment(ask.Between(may1, may31))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, want := "/k", tt.want
			if strings.HasPrefix(want, "/") {
				index, sentence, _ := strings.Cut(want, " ")
				path, want = path+index, sentence
			}
			_, err := tt.q.Check(answer(tt.bad))
			if err == nil {
				t.Fatalf("%s is accepted", tt.bad)
			}
			if got := fieldErrors(t, err); got[path] != want || len(got) != 1 {
				t.Errorf("%s: got %q, want %q at %s", tt.bad, got, want, path)
			}
			if _, err := tt.q.Check(answer(tt.good)); err != nil {
				t.Errorf("%s: %v", tt.good, err)
			}
		})
	}
}

// answer returns an answer with a value for the field k.
func answer(value string) askdata.Answer {
	if value == "" {
		return accepted(`{}`)
	}
	return accepted(`{"k":` + value + `}`)
}

// Optional fields may be missing, but must be valid if they aren't.
func TestOptionalFieldsMayBeMissing(t *testing.T) {
	q := questionOf(t, ask.ForText("k", "m", ask.Optional(), ask.Length(2, 0)))
	if got, err := q.Check(answer("")); err != nil || string(got.Content) != "{}" {
		t.Errorf("missing: %s, %v", got.Content, err)
	}
	if _, err := q.Check(answer(`""`)); err == nil {
		t.Error("an empty text is accepted, although it is too short")
	}
	q = questionOf(t, ask.ForMultiSelect("k", "m", ask.Choices("a", "b", "c"), ask.Optional(), ask.Items(2, 3)))
	if _, err := q.Check(answer("")); err != nil {
		t.Errorf("no choice in an optional field: %v", err)
	}
	if _, err := q.Check(answer(`["a"]`)); err == nil {
		t.Error("one choice is accepted, want none or two")
	}
	value, err := runAsk(t, Driver{Provider: acceptAll(`{}`)}, ask.ForInteger("k", "m", ask.Optional(), ask.Default(3)).Ask)
	if err != nil || value != "0" {
		t.Errorf("a blank answer became %s, %v; want no default", value, err)
	}
}

// Check returns the content in the form to be recorded, with only the form's fields.
func TestCheckReturnsRecordedContent(t *testing.T) {
	q := questionOf(t, ask.ForForm[preferences]("k", "m"))
	tests := []struct{ given, want string }{
		{` {"count" : 3.0 ,"name":"a", "tags":[ "b" ,"a"], "extra": {"x":1}}`, `{"name":"a","tags":["b","a"],"count":3}`},
		{`{"name":"\u0061\u003c","count":1e1}`, `{"name":"a\u003c","count":10}`},
		{`{"name":"x","name":"y","count":-0}`, `{"name":"y","count":-0}`},
		{"{\"name\":\"a\xff\",\"count\":1}", `{"name":"a` + "\ufffd" + `","count":1}`},
	}
	for _, tt := range tests {
		got, err := q.Check(accepted(tt.given))
		if err != nil || string(got.Content) != tt.want {
			t.Errorf("%s became %s (%v), want %s", tt.given, got.Content, err, tt.want)
		}
	}
	for _, a := range []askdata.Answer{{Action: askdata.Decline, Content: []byte(`{"name":1}`)}, {Action: askdata.Cancel, Files: []askdata.FileRef{fileRef}}} {
		if got, err := q.Check(a); err != nil || got.Content != nil || got.Files != nil || got.Action != a.Action {
			t.Errorf("%+v became %+v, %v", a, got, err)
		}
	}
	for _, action := range []askdata.Action{"", "yes", "ACCEPT"} {
		if _, err := q.Check(askdata.Answer{Action: action}); !strings.HasPrefix(fieldErrors(t, err)["/action"], "must be accept, decline or cancel") {
			t.Errorf("%q: %v", action, err)
		}
	}
}

func TestCheckNonObjects(t *testing.T) {
	q := questionOf(t, ask.ForText("k", "m"))
	for given, want := range map[string]string{
		`null`: "must be an object, not null", ` [1]`: "must be an object, not a list", `"k"`: "must be an object, not text",
		`{"k":"a"}{}`: "must be a single JSON value", `{`: "must be a single JSON value", "\x00": "must be a single JSON value",
	} {
		_, err := q.Check(askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(given)})
		if got := fieldErrors(t, err)[""]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", given, got)
		}
	}
	if _, err := q.Check(askdata.Answer{Action: askdata.Accept}); fieldErrors(t, err)["/k"] != "is required" {
		t.Errorf("no content: %v", err)
	}
}
