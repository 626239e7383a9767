package rawjson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/photon-beam/beam/internal/rawjson"
)

func TestMember(t *testing.T) {
	object := json.RawMessage(" { \"a\" : [ {\"b\":\"no\"} , \"]\" ] , \"\\u0062\":\"x\\\"}\",\"n\":-1e5,\"n\":2 } ")
	for name, want := range map[string]string{"a": `[ {"b":"no"} , "]" ]`, "b": `"x\"}"`, "n": "2", "none": ""} {
		if got := rawjson.Member(object, name); string(got) != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestDepth(t *testing.T) {
	for raw, want := range map[string]int{`1`: 0, `"[{"`: 0, `{}`: 1, `[{"[":"]\\\""},[[]]]`: 3, `{"a":{"b":[]},"c":{}}`: 3} {
		if got := rawjson.Depth(json.RawMessage(raw)); got != want {
			t.Errorf("the depth of %s is %d, want %d", raw, got, want)
		}
	}
}

func TestTypeName(t *testing.T) {
	for raw, want := range map[string]string{
		"": "null", "null": "null", ` "a"`: rawjson.TextType, "-1": rawjson.NumberType, "false": rawjson.BoolType,
		"\n[]": rawjson.ListType, "{}": rawjson.ObjectType,
	} {
		if got := rawjson.TypeName(json.RawMessage(raw)); got != want {
			t.Errorf("%s is %s, want %s", raw, got, want)
		}
	}
}

// FuzzEachMember compares the members of any object with those that encoding/json
// reads. It returns for any other input too.
func FuzzEachMember(f *testing.F) {
	f.Add(`{"a":1,"b":{"c":[true,null]},"a":"last"}`)
	f.Add(` { "\u00e4<" : "\\" , "" : {} } `)
	f.Add(`{"a"`)
	f.Fuzz(func(t *testing.T, object string) {
		got := make(map[string]any)
		rawjson.EachMember(json.RawMessage(object), func(name []byte, value json.RawMessage) {
			var v any
			_ = json.Unmarshal(value, &v)
			got[string(name)] = v
		})
		var want map[string]any
		if json.Unmarshal([]byte(object), &want) == nil && want != nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got %v, want %v", object, got, want)
		}
	})
}

// TestTextRoundTrip checks that what AppendText writes, DecodeText reads, and that
// it is the JSON that encoding/json writes.
func TestTextRoundTrip(t *testing.T) {
	for _, s := range []string{"", "plain", "<&>", "a\"b\\", "ünï\n", "\x00"} {
		raw := rawjson.AppendText(nil, s)
		if want, _ := json.Marshal(s); string(raw) != string(want) {
			t.Errorf("%q was written as %s, want %s", s, raw, want)
		}
		if got, plain := rawjson.DecodeText(raw); got != s || plain != rawjson.IsPlainText(raw) {
			t.Errorf("%s was read as %q (%t)", raw, got, plain)
		}
	}
}
