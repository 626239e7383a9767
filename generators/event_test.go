package generators_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// Events are unchanged after encoding and decoding.
func TestEventsRoundTrip(t *testing.T) {
	tests := []struct {
		kind  string
		event generators.Event
	}{
		{"status", generators.Status("all is well")},
		{"status", generators.StatusAt(generators.Warning, "<b>ünïcode</b> \x00\n")},
		{"status", generators.Statusf("%d of %d", 1, 2)},
		{"progress", generators.Progress(1.5, 3, "half")},
		{"progress", generators.Busy("")},
		{"log", generators.Log(generators.Emergency, "text")},
		{"log", generators.LogTo("db", generators.Debug, map[string]any{"rows": json.Number("12345678901234567890"), "ok": true, "none": nil})},
		{"chunk", generators.Chunk("")},
		{"toast", generators.Toast(generators.Success, "saved")},
		{"artifact", generators.Markdown("Report", "# Title")},
		{"artifact", generators.Code("main", "C++", "int main;")},
		{"artifact", generators.JSON("data", []any{1, "a"})},
		{"artifact", generators.TableOf("t", generators.Table{Columns: []string{"a"}, Rows: [][]any{{1}, {nil}}})},
		{"artifact", generators.ChartOf("c", generators.Chart{Kind: generators.Bars, Labels: []string{"x"}, Series: []generators.Series{{Name: "s", Values: []float64{1}}}})},
		{"artifact", generators.Image("dot", "image/png", []byte("\x89PNG\xff\x00"))},
		{"artifact", generators.File("empty", "text/csv", nil)},
		{"stepped", &generators.Stepped{Key: "k", Value: json.RawMessage(`{"a":1}`)}},
		{"stepped", &generators.Stepped{Key: "k", Error: "no"}},
		{"result", &generators.Result{Value: json.RawMessage(`[1,2]`)}},
	}
	untested := driver.Kinds()
	for _, tt := range tests {
		kind, data, err := driver.Encode(tt.event)
		if err != nil || kind != tt.kind {
			t.Errorf("%T: kind %q, error %v", tt.event, kind, err)
			continue
		}
		untested = slices.DeleteFunc(untested, func(k string) bool { return k == kind })
		back, err := driver.Decode(kind, data)
		if err != nil || !reflect.DeepEqual(back, tt.event) {
			t.Errorf("%s: %+v became %+v (%v)", data, tt.event, back, err)
		}
	}
	if len(untested) > 0 {
		t.Errorf("no event of the kinds %q was tested", untested)
	}
}

// cyclicValue returns a value that contains itself, with which package fmt would
// overflow the stack.
func cyclicValue() any {
	m := map[string]any{"fn": func() {}}
	m["self"] = m
	return m
}

type panicsOnMarshal struct{}

func (panicsOnMarshal) MarshalJSON() ([]byte, error) { panic("no") }

// Whatever a generator yields has an encoding of limited size, which says what was
// changed.
func TestHostileEvents(t *testing.T) {
	const long = 10 << 20
	tests := []struct {
		name  string
		event generators.Event
		want  string // within the JSON
	}{
		{"10 MB status", generators.Status(strings.Repeat("x", long)), "… (truncated: 10485760 bytes in all)"},
		{"10 MB of ü", generators.Status(strings.Repeat("ü", long/2)), "… (truncated: 10485760 bytes in all)"},
		{"10 MB of bare continuation bytes", generators.Status(strings.Repeat("\x80", long)), `\ufffd\ufffd`},
		{"10 MB of control characters", generators.Chunk(strings.Repeat("\x01", long)), "(truncated: "},
		{"10 MB log", generators.Log(generators.Info, strings.Repeat("x", long)), "(truncated: "},
		{"10 MB of JSON", generators.Log(generators.Info, json.RawMessage(`["`+strings.Repeat("x", long)+`"]`)), `[\"xxx`},
		{"10 MB logger", generators.LogTo(strings.Repeat("x", long), generators.Info, 1), "(truncated: "},
		{"10 MB level", generators.StatusAt(generators.Level(strings.Repeat("x", long)), "on"), `{"level":"info","text":"on"}`},
		{"10 MB title", generators.Markdown(strings.Repeat("x", long), ""), "(truncated: "},
		{"no level", &generators.ToastEvent{Text: "on"}, `"level":"info"`},
		{"invalid UTF-8", generators.Status("a\xffb"), `a\ufffdb`},
		{"NaN progress", generators.Progress(math.NaN(), math.Inf(1), ""), `{"done":0}`},
		{"func in a log", generators.Log(generators.Info, map[string]any{"f": func() {}}), `map[f:0x`},
		{"channel in a log", generators.Log(generators.Info, make(chan int)), `"0x`},
		{"NaN in a log", generators.Log(generators.Info, math.NaN()), `"NaN"`},
		{"broken JSON in a log", generators.Log(generators.Info, json.RawMessage(`{"a":`)), `{\"a\":`},
		{"cycle in a log", generators.Log(generators.Info, cyclicValue()), "can't be shown"},
		{"panic in a log", generators.Log(generators.Info, panicsOnMarshal{}), "it panicked: no"},
		{"size that is a lie", &generators.Artifact{Body: []byte("four"), Size: 5}, `"size":4`},
		{"language that is none", generators.Code("t", "a/b; c=d", "x"), `text/x-plain`},
	}
	for _, tt := range tests {
		kind, data, err := driver.Encode(tt.event)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !strings.Contains(string(data), tt.want) || len(data) > 8*driver.MaxText || !utf8.Valid(data) {
			t.Errorf("%s: %d bytes: %.300s", tt.name, len(data), data)
		}
		if _, err := driver.Decode(kind, data); err != nil {
			t.Errorf("%s: decoding: %v", tt.name, err)
		}
	}
}

func TestTruncatedTextIsValidAndFits(t *testing.T) {
	for extra := range 6 {
		for _, unit := range []string{"x", "ü", "€", "😀"} {
			text := strings.Repeat("y", extra) + strings.Repeat(unit, driver.MaxText)
			_, data, err := driver.Encode(generators.Status(text))
			var got generators.StatusEvent
			if err != nil || json.Unmarshal(data, &got) != nil {
				t.Fatal(err)
			}
			if len(got.Text) > driver.MaxText || strings.ContainsRune(got.Text, utf8.RuneError) || len(got.Text) < driver.MaxText-4 {
				t.Errorf("%d of %q: %d bytes, %q at the end", extra, unit, len(got.Text), got.Text[len(got.Text)-50:])
			}
		}
	}
}

// Encode returns an error for events that a log doesn't record. It doesn't record
// them as something else, and doesn't panic.
func TestNoEncoding(t *testing.T) {
	foreign := struct{ generators.Event }{generators.Status("mine")}
	for _, e := range []generators.Event{
		nil, (*generators.StatusEvent)(nil), (*generators.Artifact)(nil), driver.NewEvent(nil),
		driver.NewEvent(driver.NewCall("text", "k", nil)), foreign,
		&generators.Stepped{Value: json.RawMessage("{")}, &generators.Result{Value: json.RawMessage("nope")},
		&driver.UnknownEvent{Kind: "finished", Data: json.RawMessage("{}")},
	} {
		if kind, data, err := driver.Encode(e); err == nil {
			t.Errorf("%T was encoded as %s %s", e, kind, data)
		}
	}
	for kind, data := range map[string]string{"status": "", "log": "[", "progress": `{"done":"x"}`, "call": "{"} {
		if e, err := driver.Decode(kind, json.RawMessage(data)); err == nil {
			t.Errorf("%s %s was decoded as %+v", kind, data, e)
		}
	}
}

// TestDecodeUnknownKind checks that an event of a kind that another version
// recorded is neither lost nor an error.
func TestDecodeUnknownKind(t *testing.T) {
	for kind, data := range map[string]string{"map": `{"lat": 1.0}`, "call": "[]", "": "null", "bare": ""} {
		e, err := driver.Decode(kind, json.RawMessage(data))
		u, ok := e.(*driver.UnknownEvent)
		if err != nil || !ok || u.Kind != kind || string(u.Data) != data {
			t.Errorf("%s %s was decoded as %#v (%v)", kind, data, e, err)
		}
	}
}

// TestEveryKindDecodes checks that Decode knows every kind that Kinds lists.
func TestEveryKindDecodes(t *testing.T) {
	for _, kind := range driver.Kinds() {
		e, err := driver.Decode(kind, json.RawMessage("{}"))
		if _, unknown := e.(*driver.UnknownEvent); err != nil || unknown {
			t.Errorf("%s was decoded as %#v (%v)", kind, e, err)
		}
		if got, _, err := driver.Encode(e); err != nil || got != kind {
			t.Errorf("%s was encoded as %q (%v)", kind, got, err)
		}
	}
}
