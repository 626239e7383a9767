package ask_test

import (
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// FuzzReply settles a question with any bytes. The generator must get the field's
// value as encoding/json decodes it, or an error.
func FuzzReply(f *testing.F) {
	f.Add(`{"k":"a"}`)
	f.Add(` { "x" : [ {"k":"no"} , "]" , -1e5 ] , "\u006b" : "\u00e4\n" , "k":"last" } `)
	f.Add(`{"k":"<\\\"` + "\xff" + `"}`)
	f.Add(`{"k"`)
	f.Fuzz(func(t *testing.T, reply string) {
		var got string
		var err error
		p := photon(func(yield generators.Yield) (int, error) {
			got, err = ask.Text(yield, "k", "m")
			return 0, nil
		})
		for e, runErr := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
			if runErr != nil {
				t.Fatalf("%q: %v", reply, runErr)
			}
			if c, ok := driver.CallOf(e); ok {
				c.Settle(driver.Reply{Value: json.RawMessage(reply)})
			}
		}
		var want map[string]any
		if json.Unmarshal([]byte(reply), &want) != nil || want == nil {
			return
		}
		text, isText := want["k"].(string)
		if isText && (err != nil || got != text) || !isText && got != "" {
			t.Fatalf("%q: got %q (%v), want %v", reply, got, err, want["k"])
		}
	})
}
