package mask

import (
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

// Secrets are masked in the strings of a JSON value, which stays valid and keeps its names.
func TestMaskJSON(t *testing.T) {
	x := Secrets(nil).Add(1, json.RawMessage(`{"a":"pass\"word","b":"1234"}`))
	for raw, want := range map[string]string{
		`"pass\"word"`:                       `"••••"`,
		`"pass\u0022word!"`:                  `"••••!"`,
		`{"a":"x pass\"word","n":12345}`:     `{"a":"x ••••","n":12345}`,
		`{"1234" : 1, "b":["1234",null]}`:    `{"1234" : 1, "b":["••••",null]}`,
		`"{\"nested\":\"pass\\\"word\"}"`:    `"{\"nested\":\"••••\"}"`,
		`{"a":"nothing","b":"\\\"","c":1.5}`: `{"a":"nothing","b":"\\\"","c":1.5}`,
		`"unterminated \`:                    `"unterminated \`,
	} {
		if got := string(x.JSON(json.RawMessage(raw))); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
	}
}

// Secrets are masked however they are written, and a part of another one doesn't keep that
// from being masked.
func TestMaskSpellings(t *testing.T) {
	var x Secrets
	for i, text := range []string{"pass", "pass word/1+1", " key-9\\ ", "pass word/1+1 and more"} {
		content, _ := json.Marshal(map[string]string{"secret": text})
		x = x.Add(uint64(i), content)
	}
	for text, want := range map[string]string{
		"pass":                          "••••",
		"pass word/1+1!":                "••••!",
		"pass word/1+1 and more!":       "••••!",
		"GET /?q=pass+word%2F1%2B1: no": "GET /?q=••••: no",
		"GET /pass%20word%2F1+1/: no":   "GET /••••/: no",
		`trimmed: key-9\.`:              `trimmed: ••••.`,
		`"as JSON: key-9\\"`:            `"as JSON: ••••"`,
	} {
		if got := x.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Secrets are masked in all texts of a question. The values of choices stay what they are.
func TestMaskQuestion(t *testing.T) {
	x := Secrets(nil).Add(1, json.RawMessage(`{"secret":"hunter2"}`))
	q := &askdata.Question{
		Message: "Use hunter2?", Yes: "Use hunter2", No: "Not hunter2",
		Fields: askdata.Fields{
			{Name: "a", Title: "hunter2", Description: "not hunter2", PatternHint: "not hunter2", Default: json.RawMessage(`"hunter2"`)},
			{Name: "b", Choices: []askdata.Choice{{Value: "hunter2"}, {Value: "x", Title: "hunter2"}, {Value: "y"}}},
		},
	}
	before, _ := json.Marshal(q)
	masked, _ := x.Question(q)
	got, _ := json.Marshal(masked)
	const want = `{"kind":"","message":"Use ••••?","fields":[{"name":"a","title":"••••","description":"not ••••","patternHint":"not ••••"},` +
		`{"name":"b","choices":[{"value":"hunter2","title":"••••"},{"value":"x","title":"••••"},{"value":"y"}]}],"yes":"Use ••••","no":"Not ••••"}`
	if string(got) != want {
		t.Errorf("the question is %s", got)
	}
	if after, _ := json.Marshal(q); string(after) != string(before) {
		t.Errorf("the tool's own question becomes %s", after)
	}
}

// Secrets are masked in what a model is asked, but not in pictures, where they are there by
// chance.
func TestMaskSample(t *testing.T) {
	x := Secrets(nil).Add(1, json.RawMessage(`{"secret":"hunter2A"}`))
	picture := ask.ImageBlock([]byte{0x86, 0xe9, 0xed, 0x7a, 0xbd, 0x80}, "image/png") // base64: hunter2A
	q := &askdata.Question{Kind: askdata.KindSample, Sample: asking.NewSample(&ask.SampleRequest{
		StopSequences: []string{"END", "hunter2A"}, Metadata: json.RawMessage(`{"user":"hunter2A"}`),
		Tools:        []json.RawMessage{[]byte(`{"name":"login","description":"with hunter2A","inputSchema":{"type":"object","default":{"p":"hunter2A"}}}`)},
		SystemPrompt: "Keep hunter2A.", Messages: []ask.SampleMessage{
			ask.FromUser(ask.TextBlock("Is hunter2A safe?"), picture), ask.FromAssistant(ask.TextBlock("no")),
		}})}
	before, _ := json.Marshal(q)
	masked, _ := x.Question(q)
	got, _ := json.Marshal(masked.Sample)
	const want = `{"messages":[{"role":"user","content":[{"text":"Is •••• safe?","type":"text"},{"data":"hunter2A","mimeType":"image/png","type":"image"}]},` +
		`{"role":"assistant","content":{"text":"no","type":"text"}}],"systemPrompt":"Keep ••••.","maxTokens":0,"stopSequences":["END","••••"],"metadata":{"user":"••••"},` +
		`"tools":[{"name":"login","description":"with ••••","inputSchema":{"type":"object","default":{"p":"••••"}}}]}`
	if string(got) != want {
		t.Errorf("the request is %s", got)
	}
	if after, _ := json.Marshal(q); string(after) != string(before) {
		t.Errorf("the tool's own request becomes %s", after)
	}
}
