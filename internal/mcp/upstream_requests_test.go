package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/runlog"
)

func TestResourcesAndPromptsOfUpstreams(t *testing.T) {
	other := weather()
	other.Name = "other"
	s, c := newUpstreamServer(t, mcp.Config{}, weather(), other)
	for _, name := range []string{"weather", "other"} {
		c.SetList(name, catalogue.Resources, rawList(`{"uri":"ui://view/weather.html","name":"v","_meta":{"ui":{"resourceUri":"ui://x"}}}`, `{"uri":"file:///shared","name":"s","description":"of `+name+`"}`, `{"uri":"file:///`+name+`","name":"own"}`))
		c.SetList(name, catalogue.Templates, rawList(`{"uriTemplate":"`+name+`://{city}/now","name":"t"}`))
		c.SetList(name, catalogue.Prompts, rawList(`{"name":"ask me","arguments":[{"name":"x"}]}`))
	}
	for version := range upstreamClients {
		_, send := s.connectAs(t, version)
		want := `[{"uri":"ui://other/view/weather.html","name":"v","_meta":{"ui":{"resourceUri":"ui://other/x"}}},{"uri":"file:///shared","name":"s","description":"of other"},{"uri":"file:///other","name":"own"},` +
			`{"uri":"ui://weather/view/weather.html","name":"v","_meta":{"ui":{"resourceUri":"ui://weather/x"}}},{"uri":"file:///weather","name":"own"}]`
		if got := jsonMember(t, send("resources/list", "{}"), "resources"); got != want {
			t.Errorf("%s: the resources are\n%s\nwant\n%s", version, got, want)
		}
		if got := jsonMember(t, send("resources/templates/list", "{}"), "resourceTemplates"); !strings.Contains(got, `beam://runs/`) || !strings.Contains(got, `{"uriTemplate":"weather://{city}/now","name":"t"}`) {
			t.Errorf("%s: the templates are %s", version, got)
		}
		if got := jsonMember(t, send("prompts/list", "{}"), "prompts"); got != `[{"name":"other__ask_me","arguments":[{"name":"x"}]},{"name":"weather__ask_me","arguments":[{"name":"x"}]}]` {
			t.Errorf("%s: the prompts are %s", version, got)
		}
		for uri, want := range map[string]string{
			"ui://weather/view/weather.html": `resources/read{"uri":"ui://view/weather.html"}`,
			"file:///weather":                `resources/read{"uri":"file:///weather"}`,
			"weather://oslo/now":             `resources/read{"uri":"weather://oslo/now"}`,
		} {
			got := send("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
			contents := fmt.Sprintf(`[{"uri":"ui://weather/view/weather.html","text":%q,"_meta":{"k":1}}]`, want)
			if jsonMember(t, got, "contents") != contents {
				t.Errorf("%s: reading %s: %s, want %s", version, uri, got, contents)
			}
		}
		if got := send("prompts/get", `{"name":"weather__ask_me","arguments":{"x":"y"}}`); !strings.Contains(got, `prompts/get{\"name\":\"ask me\",\"arguments\":{\"x\":\"y\"}}`) {
			t.Errorf("%s: the prompt is %s", version, got)
		}
		if got := send("completion/complete", `{"ref":{"type":"ref/prompt","name":"weather__ask_me"},"argument":{"name":"x","value":"y"}}`); !strings.Contains(got, `{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"ask me\"},\"argument\":{\"name\":\"x\",\"value\":\"y\"}}`) {
			t.Errorf("%s: the completion is %s", version, got)
		}
		missing := "-32002"
		if version == "2026-07-28" {
			missing = "-32602"
		}
		for _, uri := range []string{"weather://missing/now", "nobody://has/it", "ui://nobody/x"} {
			if got := jsonMember(t, send("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)), "code"); got != missing {
				t.Errorf("%s: reading %s: code %s, want %s", version, uri, got, missing)
			}
		}
	}
	if runs := must(s.engine.Runs(operator, 0, nil)); len(runs) != 0 {
		t.Errorf("%d requests that asked nothing are still runs: %+v", len(runs), runs[0])
	}
}

// A single upstream's server has nothing else than that upstream, and its own names.
func TestAnUpstreamServedAlone(t *testing.T) {
	other := weather()
	other.Name = "other"
	s, c := newUpstreamServer(t, mcp.Config{AskPolicy: mcp.DefaultAskPolicy()}, weather(), other)
	c.SetTools("weather", rawList(weatherTool))
	c.SetTools("other", rawList(strings.Replace(weatherTool, "get.weather", "other.tool", 1)))
	c.SetList("weather", catalogue.Resources, rawList(`{"uri":"ui://view/weather.html","name":"v"}`))
	c.SetList("other", catalogue.Resources, rawList(`{"uri":"other:1","name":"v"}`))
	c.SetList("weather", catalogue.Prompts, rawList(`{"name":"ask me"}`))
	if _, ok := s.Alone("nobody", operator); ok {
		t.Error("there is an upstream that isn't there")
	}
	for version := range upstreamClients {
		_, send := s.alone(t, "weather").connectAs(t, version)
		for method, want := range map[string]string{
			"tools/list": "[" + weatherTool + "]", "resources/list": `[{"uri":"ui://view/weather.html","name":"v"}]`,
			"resources/templates/list": "[]", "prompts/list": `[{"name":"ask me"}]`,
		} {
			member := strings.TrimSuffix(strings.Replace(strings.Replace(method, "resources/templates", "resourceTemplates", 1), "/list", "", 1), "/")
			if got := jsonMember(t, send(method, "{}"), member); got != want {
				t.Errorf("%s: %s has %s, want %s", version, method, got, want)
			}
		}
		for _, tool := range []string{"weather__get_weather", "other.tool", "other__other_tool", "get_weather", "beam_resume"} {
			if got := send("tools/call", fmt.Sprintf(`{"name":%q}`, tool)); !strings.Contains(got, "unknown tool") {
				t.Errorf("%s: the tool %s is there: %s", version, tool, got)
			}
		}
		if got := send("resources/read", `{"uri":"ui://view/weather.html"}`); !strings.Contains(got, `"uri":"ui://view/weather.html","text":"resources/read{\"uri\":\"ui://view/weather.html\"}"`) {
			t.Errorf("%s: the resource is %s", version, got)
		}
		if got := send("prompts/get", `{"name":"ask me"}`); !strings.Contains(got, `prompts/get{\"name\":\"ask me\"}`) {
			t.Errorf("%s: the prompt is %s", version, got)
		}
	}
}

// What an upstream asks while a resource is read is asked as in any call, and the run is
// in the inbox. A run that has asked something is kept.
func TestAnAskWhileAResourceIsRead(t *testing.T) {
	s, c := newUpstreamServer(t, mcp.Config{AskPolicy: mcp.DefaultAskPolicy()}, weather())
	c.SetList("weather", catalogue.Templates, rawList(`{"uriTemplate":"ask:{x}","name":"t"}`))
	const want = `[{"uri":"ask:it","text":"true"}]`
	w, _ := s.connectAs(t, "2025-11-25")
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ask:it"}}`)
	request := w.nextLine()
	if jsonMember(t, request, "method") != `"elicitation/create"` || !strings.Contains(request, "May resources/read go on?") {
		t.Fatalf("the client is sent %s", request)
	}
	asks := must(s.engine.Inbox(operator, 0))
	if len(asks) != 1 {
		t.Fatalf("the inbox has %d questions", len(asks))
	}
	run, _, _ := runlog.SplitAskID(asks[0].ID)
	if info, err := s.engine.Info(operator, run); err != nil || info.Title != "resources/read" {
		t.Errorf("the run is %+v, %v", info, err)
	}
	w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"ok":true}}}`, jsonMember(t, request, "id"))
	if got := jsonMember(t, w.nextLine(), "result", "contents"); got != want {
		t.Errorf("the contents are %s, want %s", got, want)
	}

	_, send := s.connectAs(t, "2026-07-28")
	first := send("resources/read", `{"uri":"ask:it"}`)
	if jsonMember(t, first, "resultType") != `"input_required"` {
		t.Fatalf("the result is %s", first)
	}
	params := fmt.Sprintf(`{"uri":"ask:it","requestState":%s,"inputResponses":{"ok":{"action":"accept","content":{"ok":true}}}}`, jsonMember(t, first, "requestState"))
	if got := send("resources/read", params); jsonMember(t, got, "contents") != want || jsonMember(t, got, "resultType") != `"complete"` || jsonMember(t, got, "ttlMs") != "0" {
		t.Errorf("the contents are %s, want %s", got, want)
	}
	if runs := must(s.engine.Runs(operator, 0, nil)); len(runs) != 2 {
		t.Errorf("%d of 2 runs that asked are kept", len(runs))
	}
	if got := send("resources/read", strings.Replace(params, "ask:it", "ask:another", 1)); !strings.Contains(got, "belongs to another request") {
		t.Errorf("the state of one resource is valid for another: %s", got)
	}
}

// A client that can't be asked learns where the question can be answered, and waits: only
// the result of a tool can say that it comes later.
func TestAnAskWhileAResourceIsReadByAClientThatCannotBeAsked(t *testing.T) {
	s, c := newUpstreamServer(t, mcp.Config{AskPolicy: mcp.DefaultAskPolicy()}, weather())
	c.SetList("weather", catalogue.Templates, rawList(`{"uriTemplate":"ask:{x}","name":"t"}`))
	w, _ := s.connectAs(t, "2025-03-26")
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`)
	w.nextLine()
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"ask:it","_meta":{"progressToken":"p"}}}`)
	if line := w.nextLine(); !strings.Contains(line, pagesOrigin+"/asks/") {
		t.Fatalf("the client is sent %s", line)
	}
	id := must(s.engine.Inbox(operator, 0))[0].ID
	if err := s.engine.Answer(t.Context(), operator, id, askdata.Answer{Action: askdata.Decline}, "browser"); err != nil {
		t.Fatal(err)
	}
	for {
		line := w.nextLine()
		if jsonMember(t, line, "id") == "2" {
			if !strings.Contains(line, `"code":-32603`) || !strings.Contains(line, "declined") {
				t.Errorf("the reply is %s", line)
			}
			return
		}
	}
}
