package ask_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

var greeting = ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Say hello"))}, MaxTokens: 100}

// A SampleRequest has the JSON form of the params of sampling/createMessage, and loses
// nothing of params that it decodes.
func TestSampleRequestJSON(t *testing.T) {
	half, temperature := 0.5, 0.0
	request := ask.SampleRequest{
		Messages: []ask.SampleMessage{
			ask.FromUser(ask.TextBlock("What is <this>?"), ask.ImageBlock([]byte("png"), "image/png")),
			ask.FromAssistant(ask.SampleBlock{Type: askdata.BlockToolUse, ID: "1", Name: "look", Input: json.RawMessage(`{"at":1}`)}),
			ask.FromUser(ask.SampleBlock{Type: askdata.BlockToolResult, ToolUseID: "1", Content: json.RawMessage(`[]`), IsError: true}),
			ask.FromUser(ask.AudioBlock([]byte("wav"), "audio/wav")),
			ask.FromUser(ask.TextBlock("")),
		},
		ModelPreferences: &ask.ModelPreferences{Hints: []ask.ModelHint{{Name: "small"}}, CostPriority: &half},
		SystemPrompt:     "Be brief.", IncludeContext: "none", Temperature: &temperature, MaxTokens: 100,
		StopSequences: []string{"END"}, Metadata: json.RawMessage(`{"user":"u"}`),
		Tools: []json.RawMessage{json.RawMessage(`{"name":"look","inputSchema":{"type":"object"},"annotations":{"x":1}}`)}, ToolChoice: &ask.ToolChoice{Mode: "auto"},
	}
	q := questionOf(t, ask.ForSample("k", request))
	raw, err := json.Marshal(q.Sample)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.json", raw)
	var back ask.SampleRequest
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || string(again) != string(raw) {
		t.Errorf("after a round trip through JSON it is %s (%v)", again, err)
	}
	blocks, err := back.Messages[0].Blocks()
	if err != nil || len(blocks) != 2 || blocks[0].Text != "What is <this>?" || string(blocks[1].Data) != "png" {
		t.Errorf("the blocks are %+v, %v", blocks, err)
	}
	foreign := `{"role":"user","content":[{"type":"text","text":"a","annotations":{"priority":1}},{"type":"hologram","x":[1]}]}`
	var m ask.SampleMessage
	if err := json.Unmarshal([]byte(foreign), &m); err != nil {
		t.Fatal(err)
	}
	q = questionOf(t, ask.ForSample("k", ask.SampleRequest{Messages: []ask.SampleMessage{m}, MaxTokens: 1}))
	if kept, _ := json.Marshal(asking.SampleOf(q).Messages[0]); string(kept) != foreign {
		t.Errorf("blocks with unknown members became %s", kept)
	}
}

// The message of a sampling question is a summary of the request.
func TestSampleSummary(t *testing.T) {
	user, model := ask.FromUser, ask.FromAssistant
	for want, messages := range map[string][]ask.SampleMessage{
		"Request to a model: Say hello":                         {user(ask.TextBlock("old")), user(ask.TextBlock(" Say\n hello ")), model(ask.TextBlock("Hel"))},
		"Request to a model: " + strings.Repeat("é", 200) + "…": {user(ask.TextBlock(strings.Repeat("é", 300)))},
		"Request to a model: before":                            {user(ask.TextBlock("before")), user(ask.ImageBlock([]byte("x"), "image/png"))},
		"Request to a model to continue a conversation.":        {model(ask.TextBlock("Once"))},
	} {
		if got := questionOf(t, ask.ForSample("k", ask.SampleRequest{Messages: messages, MaxTokens: 1})).Message; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestInvalidSampleRequests(t *testing.T) {
	with := func(change func(*ask.SampleRequest)) ask.SampleRequest {
		r := greeting
		change(&r)
		return r
	}
	message := func(role ask.SampleRole, content string) ask.SampleRequest {
		return with(func(r *ask.SampleRequest) {
			r.Messages = []ask.SampleMessage{{Role: role, Content: json.RawMessage(content)}}
		})
	}
	two, nan := 2.0, math.NaN()
	for want, r := range map[string]ask.SampleRequest{
		"needs 1 to 1000 messages; this one has 0": with(func(r *ask.SampleRequest) { r.Messages = nil }),
		"needs MaxTokens":                          with(func(r *ask.SampleRequest) { r.MaxTokens = 0 }),
		"101 stop sequences":                       with(func(r *ask.SampleRequest) { r.StopSequences = make([]string, 101) }),
		"temperature is not a number":              with(func(r *ask.SampleRequest) { r.Temperature = &nan }),
		"metadata is not an object":                with(func(r *ask.SampleRequest) { r.Metadata = json.RawMessage("1") }),
		`includeContext is "all"`:                  with(func(r *ask.SampleRequest) { r.IncludeContext = "all" }),
		"a priority is 2":                          with(func(r *ask.SampleRequest) { r.ModelPreferences = &ask.ModelPreferences{SpeedPriority: &two} }),
		"101 model hints": with(func(r *ask.SampleRequest) {
			r.ModelPreferences = &ask.ModelPreferences{Hints: make([]ask.ModelHint, 101)}
		}),
		"tool 1 needs a name":                     with(func(r *ask.SampleRequest) { r.Tools = []json.RawMessage{json.RawMessage(`{"name":"a"}`)} }),
		`toolChoice is "any"`:                     with(func(r *ask.SampleRequest) { r.ToolChoice = &ask.ToolChoice{Mode: "any"} }),
		"501 tools":                               with(func(r *ask.SampleRequest) { r.Tools = make([]json.RawMessage, 501) }),
		"the maximum is 8388608":                  with(func(r *ask.SampleRequest) { r.SystemPrompt = strings.Repeat("x", 8<<20) }),
		`message 1 has the role "system"`:         message("system", `{"type":"text","text":"x"}`),
		"content that must be a block":            message("user", `"x"`),
		"must have 1 to 1000 blocks; it has 0":    message("user", `[]`),
		"a block 1 that has no type":              message("user", `{"text":"x"}`),
		"a block 2 that is not an object":         message("user", `[{"type":"text","text":"x"},5]`),
		"a block 1 that has no text":              message("user", `{"type":"text"}`),
		"is not a valid image block":              message("user", `{"type":"image","data":"?","mimeType":"image/png"}`),
		"needs data and a mimeType":               message("user", `{"type":"audio","data":"eA=="}`),
		"needs an id, a name and an input":        message("user", `{"type":"tool_use","id":"1","name":"x","input":1}`),
		"needs a toolUseId and a list as content": message("user", `{"type":"tool_result","toolUseId":"1"}`),
	} {
		_, err := runAsk(t, Driver{}, ask.ForSample("k", r).Ask)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := runAsk(t, Driver{}, ask.ForSample("k", greeting, ask.Optional()).Ask); err == nil || !strings.Contains(err.Error(), "not for a sample") {
		t.Errorf("with an option for fields: %v", err)
	}
	if err := (asking.Policy{}).Admit(&askdata.Question{Kind: askdata.KindSample}, 0, 0); err == nil {
		t.Error("a sampling question without a request was admitted")
	}
}

func TestSampleResults(t *testing.T) {
	const plain = `{"role":"assistant","content":{"type":"text","text":"Hi"},"model":"m","stopReason":"endTurn"}`
	for _, tt := range []struct{ name, content, want, text string }{
		{"a model", plain, plain, "Hi"},
		{"with more than Beam keeps", `{"_meta":{},"model":"m","role":"assistant","content":{"type":"text", "text":"Hi","annotations":{"a":1}},"stopReason":null}`,
			`{"role":"assistant","content":{"type":"text","text":"Hi","annotations":{"a":1}},"model":"m"}`, "Hi"},
		{"several blocks", `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"text","text":"b"}],"model":"m"}`,
			`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"text","text":"b"}],"model":"m"}`, "a\nb"},
		{"a person", `{"text":"I say\nhi"}`,
			`{"role":"assistant","content":{"text":"I say\nhi","type":"text"},"model":"a person","stopReason":"endTurn"}`, "I say\nhi"},
		{"broken letters", `{"role":"assistant","content":{"type":"text","text":"` + "a\xff" + `"},"model":"m"}`,
			`{"role":"assistant","content":{"type":"text","text":"a` + "\ufffd" + `"},"model":"m"}`, "a\ufffd"},
	} {
		q := questionOf(t, ask.ForSample("k", greeting))
		a, err := q.Check(accepted(tt.content))
		if err != nil || string(a.Content) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, a.Content, err, tt.want)
			continue
		}
		if again, err := q.Check(a); err != nil || string(again.Content) != tt.want {
			t.Errorf("%s: checked again, it is %s, %v", tt.name, again.Content, err)
		}
		var r ask.SampleResult
		if err := json.Unmarshal(a.Content, &r); err != nil || r.Text() != tt.text {
			t.Errorf("%s: the text is %q, %v", tt.name, r.Text(), err)
		}
		if m := r.Message(); m.Role != ask.RoleAssistant || !reflect.DeepEqual(m.Content, r.Content) {
			t.Errorf("%s: as a message it is %+v", tt.name, m)
		}
	}
}

func TestInvalidSampleResults(t *testing.T) {
	for content1, want := range map[string]map[string]string{
		``:                     {"": "must be a single JSON value: unexpected end of JSON input"},
		`"hi"`:                 {"": "must be an object, not text"},
		`{}`:                   {"/text": "is required"},
		`{"text":""}`:          nil, // a person may answer with an empty text
		`{"role":"assistant"}`: {"/content": "is required", "/model": "is required"},
		`{"role":"system","content":"x","model":5,"stopReason":1}`:                                {"/role": "must be assistant", "/content": "must be a block or a list of blocks, not text", "/model": "must be text, not a number", "/stopReason": "must be text, not a number"},
		`{"content":{"type":"text","text":"x"},"model":"` + strings.Repeat("m", 501) + `"}`:       {"/role": "is required", "/model": "must be at most 500 characters long"},
		`{"role":"assistant","model":"m","content":[{"type":"text","text":"x"},{"type":"text"}]}`: {"/content": "has a block 2 that has no text"},
		`{"text":"` + strings.Repeat("x", 200_001) + `"}`:                                         {"/text": "must be at most 200000 characters long; it has 200001"},
		`{"role":"assistant","model":"m","content":"` + strings.Repeat("x", 9<<20) + `"}`:         {"/content": "must be at most 8388608 bytes; this is 9437229"},
	} {
		_, err := questionOf(t, ask.ForSample("k", greeting)).Check(accepted(content1))
		if want == nil {
			if err != nil {
				t.Errorf("%s: %v", content1, err)
			}
			continue
		}
		if messages := fieldErrors(t, err); !reflect.DeepEqual(messages, want) {
			t.Errorf("%.80s: %q, want %q", content1, messages, want)
		}
	}
}

// Any content that FuzzSampleResult finds to be accepted must be a CreateMessageResult
// whose blocks can be read, and is unchanged when it is checked again.
func FuzzSampleResult(f *testing.F) {
	f.Add(`{"role":"assistant","content":{"type":"text","text":"Hi"},"model":"m"}`)
	f.Add(`{"text":"a"}`)
	f.Add(`{"content":[{"type":"tool_use","id":"1","name":"n","input":{}},{"type":"x"}],"role":"user","model":""}`)
	q := &askdata.Question{Kind: askdata.KindSample, Fields: askdata.Fields{{Name: "text", Type: "string", Required: true}}}
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := q.Check(accepted(raw))
		if err != nil {
			return
		}
		var r ask.SampleResult
		if err := json.Unmarshal(a.Content, &r); err != nil {
			t.Fatalf("%q became %s: %v", raw, a.Content, err)
		}
		if _, err := r.Blocks(); err != nil {
			t.Fatalf("%q became %s: %v", raw, a.Content, err)
		}
		if again, err := q.Check(a); err != nil || string(again.Content) != string(a.Content) {
			t.Fatalf("%s became %s (%v)", a.Content, again.Content, err)
		}
	})
}
