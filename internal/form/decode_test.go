package form_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

// postedTests is a form with a field of every type.
var postedTests = askdata.Fields{
	{Name: "text", Type: "string"},
	{Name: "long", Type: "string", Format: askdata.FormatLong},
	{Name: "mail", Type: "string", Format: "email"},
	{Name: "pin", Type: "string", Format: askdata.FormatSecret},
	{Name: "pick", Type: "string", Choices: askdata.Choices("a", "b")},
	{Name: "none", Type: "string", Choices: []askdata.Choice{{Value: "", Title: "None"}, {Value: "a"}}},
	{Name: "many", Type: "array", Choices: askdata.Choices("a", "b", "c")},
	{Name: "must", Type: "array", Choices: askdata.Choices("a", "b"), Required: true},
	{Name: "sure", Type: "boolean"},
	{Name: "n", Type: "number"},
	{Name: "i", Type: "integer"},
	{Name: "day", Type: "string", Format: "date"},
	{Name: "at", Type: "string", Format: "date-time"},
	{Name: "time", Type: "string", Format: askdata.FormatTime},
	{Name: "json"},
}

// TestDecode decodes one posted field. The two unchecked checkboxes are always in the
// content.
func TestDecode(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	digits := strings.Repeat("1234567890", 3)
	tests := []struct{ post, want string }{
		{"", ""},
		{"text=", ""}, {"text=+++", ""}, {"text=+a+", `"text":" a "`}, {"text=a&text=b", `"text":"b"`},
		{"unknown=a", ""},
		{"long=a%0D%0Ab%0D%0A", `"long":"a\nb\n"`},
		{"mail=+ada@example.org%0D%0A", `"mail":"ada@example.org"`},
		{"pin=+", `"pin":" "`}, {"pin=", ""},
		{"pick=", ""}, {"pick=x", `"pick":"x"`}, {"none=", `"none":""`}, {"none=a", `"none":"a"`},
		{"many=a&many=b&many=a", `"many":["a","b"]`}, {"many=", ""}, {"many=&many=c", `"many":["c"]`},
		{"n=1.50", `"n":1.50`}, {"n=+%2B3", `"n":3`}, {"n=-007.5e%2B2", `"n":-7.5e+2`}, {"n=.5", `"n":0.5`}, {"n=5.", `"n":5`},
		{"n=" + digits, `"n":` + digits}, {"n=0." + digits, `"n":0.` + digits},
		{"n=1,5", `"n":"1,5"`}, {"n=abc", `"n":"abc"`}, {"n=0x10", `"n":"0x10"`}, {"n=Inf", `"n":"Inf"`}, {"n=1_000", `"n":"1_000"`},
		{"n=-", `"n":"-"`}, {"n=%2B", `"n":"+"`}, {"n=.", `"n":"."`}, {"n=e5", `"n":"e5"`}, {"n=-0", `"n":-0`}, {"n=000", `"n":0`}, {"n=", ""},
		{"i=" + digits, `"i":` + digits}, {"i=4.0", `"i":4.0`},
		{"day=2026-05-01+", `"day":"2026-05-01"`}, {"day=tomorrow", `"day":"tomorrow"`},
		{"at=2026-01-15T10:30", `"at":"2026-01-15T10:30:00+01:00"`},
		{"at=2026-07-15T10:30:15", `"at":"2026-07-15T10:30:15+02:00"`},
		{"at=2026-07-15+10:30", `"at":"2026-07-15T10:30:00+02:00"`},
		{"at=2026-10-25T03:00", `"at":"2026-10-25T03:00:00+01:00"`}, // the hour before occurs twice
		{"at=2026-07-15T10:30:00Z", `"at":"2026-07-15T10:30:00Z"`},
		{"at=soon", `"at":"soon"`},
		{"time=18:30", `"time":"18:30"`},
		{"json=[1,+{}]", `"json":[1,{}]`}, {"json=5", `"json":5`}, {"json=plain+words", `"json":"plain words"`}, {"json=\"q\"", `"json":"q"`},
		{"text=%FF%00", `"text":"` + "\\ufffd" + `\u0000"`},
	}
	for _, tt := range tests {
		values, err := url.ParseQuery(tt.post)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(form.Decode(postedTests, values, berlin), &fields); err != nil {
			t.Fatal(err)
		}
		if string(fields["must"]) != "[]" || string(fields["sure"]) != "false" {
			t.Errorf("%s: the unchecked checkboxes are %s and %s", tt.post, fields["must"], fields["sure"])
		}
		delete(fields, "must")
		delete(fields, "sure")
		var got string
		for name, value := range fields {
			got += `"` + name + `":` + string(value)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.post, got, tt.want)
		}
	}
}

func TestDecodeCheckboxes(t *testing.T) {
	fields := askdata.Fields{{Name: "sure", Type: "boolean"}}
	for post, want := range map[string]string{
		"": "false", "sure=on": "true", "sure=true": "true", "sure=off": "false", "sure=": "false", "sure=false&sure=on": "true", "sure=maybe": `"maybe"`,
	} {
		values, _ := url.ParseQuery(post)
		if got := string(form.Decode(fields, values, nil)); got != `{"sure":`+want+`}` {
			t.Errorf("%q: %s", post, got)
		}
	}
}

// A local time that doesn't exist, because the clocks go forward, is decoded as some
// valid time.
func TestDecodeSkippedHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	fields := askdata.Fields{{Name: "at", Type: "string", Format: "date-time"}}
	for _, at := range []string{"2026-03-29T02:30", "2026-10-25T02:30"} {
		got := form.Decode(fields, url.Values{"at": {at}}, berlin)
		if _, err := fields.Check(got); err != nil {
			t.Errorf("%s became %s: %v", at, got, err)
		}
	}
	if got := string(form.Decode(fields, url.Values{"at": {"2026-03-29T02:30"}}, nil)); got != `{"at":"2026-03-29T02:30:00Z"}` {
		t.Errorf("without a zone, it became %s", got)
	}
}

// In a posted form, blank fields are missing, and a list without a checked checkbox is
// empty.
func TestPostedFormIsChecked(t *testing.T) {
	fields := askdata.Fields{
		{Name: "name", Type: "string", Required: true},
		{Name: "tags", Type: "array", Choices: askdata.Choices("a", "b"), Required: true},
		{Name: "some", Type: "array", Choices: askdata.Choices("a", "b"), Required: true, MinItems: 2},
		{Name: "sure", Type: "boolean", Required: true},
		{Name: "count", Type: "integer"},
	}
	_, err := fields.Check(form.Decode(fields, url.Values{"name": {" "}, "count": {"many"}, "some": {"a"}}, nil))
	want := map[string]string{
		"/name": "is required", "/some": "must have at least 2 items; it has 1", "/count": "must be a whole number, not text",
	}
	got := fieldErrors(t, err)
	for path, sentence := range want {
		if got[path] != sentence {
			t.Errorf("%s: %q, want %q", path, got[path], sentence)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
	checked, err := fields.Check(form.Decode(fields, url.Values{"name": {"Ada"}, "some": {"a", "b", "b"}}, nil))
	if err != nil || string(checked) != `{"name":"Ada","tags":[],"some":["a","b"],"sure":false}` {
		t.Errorf("got %s, %v", checked, err)
	}
}
