package run

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
)

// What a glance at a question finds is what decoding it does, whatever its text
// says.
func TestAGlanceAtAQuestion(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 123, time.UTC)
	for _, asked := range []log.Asked{
		{Key: "k"},
		{Key: `"deadline":"x","spent":1}`, Deadline: at, Spent: ask.Millis(time.Minute), More: true},
		{Key: "\\\"{[", Question: &ask.Question{Kind: ask.KindText, Message: `say "deadline": [}] \`, Fields: ask.Fields{{Name: "deadline", Type: "string"}}}, Deadline: at},
		{Key: "k", Question: &ask.Question{Message: "<&>\u2028"}, Spent: ask.Millis(time.Second)},
	} {
		o, err := outlineOf(log.New(log.KindAsked, asked))
		if err != nil || !o.deadline.Equal(asked.Deadline) || o.spent != asked.Spent {
			t.Errorf("%+v is %+v, %v", asked, o, err)
		}
	}
	if _, err := outlineOf(log.Entry{Seq: 3, Kind: log.KindAsked, Data: json.RawMessage(`{"key"`)}); err == nil {
		t.Error("half a question is no error")
	}
}

// FuzzMembers finds the members that encoding/json does, and panics at nothing.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,"}"]},"c":"\\\""}`, `{"a"`, `{"a":}`, `{"":null}`, `[]`, `{"a":"\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = members(data, func(_, _ []byte) error { return nil })
		var all map[string]json.RawMessage
		if json.Unmarshal(data, &all) != nil {
			return
		}
		compact, err := json.Marshal(all) // as the log has it
		if err != nil || string(compact) == "null" {
			return
		}
		found := make(map[string]json.RawMessage)
		err = members(compact, func(key, value []byte) error {
			var name string
			if err := json.Unmarshal([]byte(`"`+string(key)+`"`), &name); err != nil {
				return err
			}
			found[name] = append(json.RawMessage(nil), value...)
			return nil
		})
		var again map[string]json.RawMessage
		if e := json.Unmarshal(compact, &again); e != nil || err != nil || !reflect.DeepEqual(found, again) {
			t.Errorf("%s has %s, %v", compact, found, err)
		}
	})
}
