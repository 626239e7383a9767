package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/llm"
)

func parseModels(t *testing.T, models string) *llm.Models {
	t.Helper()
	m, err := llm.Parse([]byte(`{"models":[` + models + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEncode(t *testing.T) {
	temperature := 0.0
	r := &ask.SampleRequest{
		SystemPrompt: "Be <brief> & \u2028 kind", MaxTokens: 50, Temperature: &temperature, StopSequences: []string{"END"}, IncludeContext: "allServers", Metadata: json.RawMessage(`{"secret":1}`),
		Tools: []json.RawMessage{json.RawMessage(`{"name":"look","description":"Looks","inputSchema":{"type":"object"},"annotations":{}}`)}, ToolChoice: &ask.ToolChoice{Mode: "required"},
		Messages: []ask.SampleMessage{
			ask.FromUser(ask.TextBlock("What?"), ask.ImageBlock([]byte("png"), "image/png"), ask.AudioBlock([]byte("wav"), "audio/wav")),
			ask.FromAssistant(ask.TextBlock("I look"), ask.SampleBlock{Type: askdata.BlockToolUse, ID: "c1", Name: "look", Input: json.RawMessage(`{"a":1}`)}),
			ask.FromUser(ask.SampleBlock{Type: askdata.BlockToolResult, ToolUseID: "c1", Content: json.RawMessage(`[{"type":"text","text":"seen"}]`), IsError: true}),
			ask.FromUser(ask.SampleBlock{Type: askdata.BlockToolResult, ToolUseID: "c1", Content: json.RawMessage(`[{"type":"image","data":"eA==","mimeType":"image/png"}]`)}, ask.TextBlock("And?")),
		},
	}
	models := parseModels(t, `{"name":"a","endpoint":"http://127.0.0.1:1/v1/","model":"id","accepts":["image","audio","tools"]},
		{"name":"b","endpoint":"https://api.openai.com/v1","accepts":["image","audio","tools"],"omit":["temperature","stop","stream_options"]}, {"name":"c","endpoint":"http://127.0.0.1:1"}`)
	const messages = `[{"role":"system","content":"Be <brief> & \u2028 kind"},` +
		`{"role":"user","content":[{"type":"text","text":"What?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}},{"type":"input_audio","input_audio":{"data":"d2F2","format":"wav"}}]},` +
		`{"role":"assistant","content":"I look","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"a\":1}"}}]},` +
		`{"role":"tool","content":"Error: seen","tool_call_id":"c1"},` +
		`{"role":"tool","content":"[{\"type\":\"image\",\"data\":\"eA==\",\"mimeType\":\"image/png\"}]","tool_call_id":"c1"},{"role":"user","content":"And?"}]`
	const tools = `"tools":[{"type":"function","function":{"name":"look","description":"Looks","parameters":{"type":"object"}}}],"tool_choice":"required"`
	for name, want := range map[string]string{
		"a": `{"model":"id","messages":` + messages + `,"max_tokens":50,"temperature":0,"stop":["END"],` + tools + `,"stream":true,"stream_options":{"include_usage":true}}`,
		"b": `{"model":"b","messages":` + messages + `,"max_completion_tokens":50,` + tools + `,"stream":true}`,
	} {
		got, err := models.Lookup(name).Encode(r)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	if _, err := models.Lookup("c").Encode(r); err == nil || !strings.Contains(err.Error(), "It uses no tools.") {
		t.Errorf("a model without tools: %v", err)
	}
	for want, block := range map[string]ask.SampleBlock{
		"must be audio/wav or audio/mpeg": ask.AudioBlock([]byte("x"), "audio/ogg"), "is not the media type of a picture": ask.ImageBlock([]byte("x"), "text/html"),
		"takes no content of the type hologram": {Type: "hologram"},
	} {
		m := ask.SampleMessage{Role: ask.RoleUser, Content: []byte(`{"type":"hologram"}`)}
		if block.Type != "hologram" {
			m = ask.FromUser(block)
		}
		if _, err := models.Lookup("a").Encode(&ask.SampleRequest{Messages: []ask.SampleMessage{m}, MaxTokens: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// The table that the page explains.
func TestRank(t *testing.T) {
	models := parseModels(t, `{"name":"cheap","endpoint":"http://a","model":"llama3.2:3b","cost":1,"speed":0.8,"intelligence":0.2},
		{"name":"clever","endpoint":"http://b","model":"gpt-5","cost":0.1,"speed":0.4,"intelligence":1,"accepts":["image","tools"],"hints":["claude-sonnet"]},
		{"name":"quick","endpoint":"http://c","cost":0.5,"speed":1,"intelligence":0.4,"accepts":["image"]}`)
	f := func(v float64) *float64 { return &v }
	hints := func(names ...string) (p ask.ModelPreferences) {
		for _, n := range names {
			p.Hints = append(p.Hints, ask.ModelHint{Name: n})
		}
		return p
	}
	image := []ask.SampleMessage{ask.FromUser(ask.ImageBlock([]byte("x"), "image/png"))}
	for name, tt := range map[string]struct {
		request ask.SampleRequest
		want    string
	}{
		"the order of the file":   {ask.SampleRequest{}, "cheap clever quick"},
		"cost":                    {ask.SampleRequest{ModelPreferences: &ask.ModelPreferences{CostPriority: f(1)}}, "cheap quick clever"},
		"intelligence over speed": {ask.SampleRequest{ModelPreferences: &ask.ModelPreferences{IntelligencePriority: f(0.9), SpeedPriority: f(0.1)}}, "clever quick cheap"},
		"priorities of 0":         {ask.SampleRequest{ModelPreferences: &ask.ModelPreferences{SpeedPriority: f(0)}}, "cheap clever quick"},
		"a hint over priorities":  {ask.SampleRequest{ModelPreferences: &ask.ModelPreferences{Hints: hints("GPT").Hints, CostPriority: f(1)}}, "clever cheap quick"},
		"the first hint":          {ask.SampleRequest{ModelPreferences: &ask.ModelPreferences{Hints: hints("none", "quick", "llama").Hints}}, "quick cheap clever"},
		"a longer hint":           {ask.SampleRequest{ModelPreferences: &ask.ModelPreferences{Hints: hints("", "claude-sonnet-4").Hints}}, "clever cheap quick"},
		"pictures":                {ask.SampleRequest{Messages: image}, "clever quick -cheap"},
		"tools":                   {ask.SampleRequest{Tools: []json.RawMessage{[]byte("{}")}}, "clever -cheap -quick"},
	} {
		var got []string
		for _, c := range models.Rank(&tt.request) {
			mark := ""
			if c.Unfit != "" {
				mark = "-"
			}
			got = append(got, mark+c.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

func ExampleEstimateTokens() {
	r := &ask.SampleRequest{SystemPrompt: "Be brief.", Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("How are you?"), ask.ImageBlock([]byte("x"), "image/png"))}}
	fmt.Println(llm.EstimateTokens(r))
	// Output: 810
}
