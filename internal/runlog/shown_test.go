package runlog_test

import (
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// A question is recorded as people read it, and what an answer has stays as it is.
func TestShownQuestion(t *testing.T) {
	q := &askdata.Question{
		Kind: askdata.KindForm, Message: "Delete \u202etxt.terces\u202c?", Yes: "O\u200bK", No: "ن\u200cه",
		Fields: askdata.Fields{
			{Name: "a\u200eb", Type: "string", Description: "\u3164", Default: json.RawMessage(`"x\u202e\r\n<y>"`)},
			{Name: "c", Title: "T\u2800", Type: "string", Default: json.RawMessage(`"v\u200b"`), Choices: []askdata.Choice{{Value: "v\u200b"}, {Value: " "}, {Value: "w", Title: "W\u009b"}}},
			{Name: "n", Type: "number", Default: json.RawMessage(`1`)},
		},
		Evidence: []*generators.Artifact{{Title: "T\u061c", MediaType: "text/plain", Body: []byte("\u202e")}},
	}
	before, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	shown := runlog.ShownQuestion(q)
	raw, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"form","message":"Delete ‹U+202E›txt.terces‹U+202C›?","fields":[` +
		`{"name":"a` + "\u200e" + `b","title":"a‹U+200E›b","description":"‹U+3164›","type":"string","default":"x‹U+202E›\n\u003cy\u003e"},` +
		`{"name":"c","title":"T‹U+2800›","type":"string","choices":[{"value":"v` + "\u200b" + `","title":"v‹U+200B›"},{"value":" ","title":"‹U+0020›"},{"value":"w","title":"W‹U+009B›"}],"default":"v\u200b"},` +
		`{"name":"n","type":"number","default":1}],"yes":"O‹U+200B›K","no":"ن` + "\u200c" + `ه","evidence":[{"title":"T‹U+061C›","mediaType":"text/plain","body":"4oCu","size":0}]}`
	if string(raw) != want {
		t.Errorf("it is\n%s\nwant\n%s", raw, want)
	}
	if again, _ := json.Marshal(runlog.ShownQuestion(shown)); string(again) != want {
		t.Errorf("shown again, it is\n%s", again)
	}
	if after, _ := json.Marshal(q); string(after) != string(before) {
		t.Errorf("the question has become\n%s", after)
	}
}
