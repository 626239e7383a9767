package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// weatherTool is a tool with everything that a definition may have, and more.
const weatherTool = `{"zzz":1,"name":"get.weather","title":"Weather <now>","description":"Tells & \"quotes\"",` +
	`"inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","x-order":[2,1.0],` +
	`"properties":{"city":{"type":"string","format":"city"},"days":{"type":"integer","default":1}},"required":["city"],"if":{"required":["days"]},"then":{"minProperties":2}},` +
	`"outputSchema":{"type":"object","properties":{"warm":{"type":"boolean"}},"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":true},"icons":[{"src":"data:image/png;base64,AA==","sizes":["48x48"]}],"execution":{"taskSupport":"optional"},` +
	`"_meta":{"ui":{"resourceUri":"ui://view/weather.html","visibility":["app"]},"ui/resourceUri":"ui://view/weather.html","n":1e2}}`

// weatherResult is a result with every kind of block.
const weatherResult = `{"content":[{"type":"text","text":"Sunny <é> \u2028","annotations":{"audience":["user"],"priority":0.5},"_meta":{"a":1}},` +
	`{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"},` +
	`{"type":"resource","resource":{"uri":"ui://view/weather.html","mimeType":"text/html","text":"<p>","_meta":{"ui":{"csp":{}}}}},` +
	`{"type":"resource_link","uri":"https://weather.example/x","name":"more","size":7}],` +
	`"structuredContent":{"warm":true},"_meta":{"x/y":[1,2.50],"io.modelcontextprotocol/serverInfo":{"name":"other"}},"isError":false}`

// weather is an upstream that a test can change.
func weather() *catalogue.Source {
	return &catalogue.Source{
		Name: "weather",
		Call: func(_ context.Context, yield generators.Yield, r catalogue.Request) (json.RawMessage, error) {
			switch {
			case r.Method == "tools/call":
				return json.RawMessage(weatherResult), nil
			case strings.Contains(string(r.Params), "ask:"):
				ok, err := ask.Confirm(yield, "ok", "May "+r.Method+" go on?")
				return fmt.Appendf(nil, `{"contents":[{"uri":"ask:it","text":"%v"}]}`, ok), err
			case strings.Contains(string(r.Params), "missing"):
				return nil, fmt.Errorf("failed: %w", message.Errorf(-32002, "no such thing"))
			}
			return fmt.Appendf(nil, `{"contents":[{"uri":"ui://view/weather.html","text":%q,"_meta":{"k":1}}],"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`, r.Method+string(r.Params)), nil
		},
		Request: func(_ context.Context, r catalogue.Request) (json.RawMessage, error) {
			return fmt.Appendf(nil, `{"completion":{"values":[%q]}}`, r.Method+string(r.Params)), nil
		},
	}
}

// newUpstreamServer returns a server with upstreams.
func newUpstreamServer(t testing.TB, c mcp.Config, sources ...*catalogue.Source) (*testServer, *catalogue.Catalogue) {
	t.Helper()
	c.Photons = mustRegistry(t)
	c.Upstreams = catalogue.New(c.Photons)
	for _, s := range sources {
		c.Upstreams.Put(s)
	}
	return newTestServerWith(t, c, runlog.NewMemory()), c.Upstreams
}

func rawList(items ...string) []json.RawMessage {
	list := make([]json.RawMessage, len(items))
	for i, s := range items {
		list[i] = json.RawMessage(s)
	}
	return list
}

// alone returns the server of one upstream.
func (b *testServer) alone(t testing.TB, name string) *testServer {
	t.Helper()
	a, ok := b.Alone(name, operator)
	if !ok {
		t.Fatalf("there is no upstream %s", name)
	}
	return &testServer{Server: a, engine: b.engine, photons: b.photons}
}

// upstreamClients are clients of all versions.
var upstreamClients = map[string]struct{ version, capabilities string }{
	"2025-03-26": {"2025-03-26", `{}`}, "2025-06-18": {"2025-06-18", `{"elicitation":{}}`},
	"2025-11-25": {"2025-11-25", `{"elicitation":{"form":{}}}`}, "2026-07-28": {"2026-07-28", `{"elicitation":{"form":{}}}`},
}

// request sends a request of a client of a version, and returns the response's result or
// error. What was changed before the client connected may be announced to it all the same,
// since changes are passed on by a goroutine of their own.
func (w *stdioClient) request(version, capabilities, method, params string) string {
	w.t.Helper()
	if version == "2026-07-28" {
		params = strings.Replace("{"+modernMeta(capabilities, "")+","+params[1:], ",}", "}", 1)
	}
	w.sendLine(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
	line := w.nextLine()
	for strings.HasSuffix(jsonMember(w.t, line, "method"), `/list_changed"`) {
		line = w.nextLine()
	}
	if result := jsonMember(w.t, line, "result"); result != "" {
		return result
	}
	return jsonMember(w.t, line, "error")
}

func (b *testServer) connectAs(t testing.TB, name string) (w *stdioClient, send func(method, params string) string) {
	t.Helper()
	c := upstreamClients[name]
	w = b.connectStdio(t)
	if c.version != "2026-07-28" {
		w.initialize(c.version, c.capabilities)
	}
	return w, func(method, params string) string {
		t.Helper()
		return w.request(c.version, c.capabilities, method, params)
	}
}

func TestDefinitionsOfUpstreamsAreListedAsTheyAre(t *testing.T) {
	s, c := newUpstreamServer(t, mcp.Config{}, weather())
	if left := c.SetTools("weather", rawList(weatherTool)); left != nil {
		t.Fatal(left)
	}
	for version := range upstreamClients {
		_, send := s.connectAs(t, version)
		want := strings.NewReplacer(`"get.weather"`, `"weather__get_weather"`, "ui://view/", "ui://weather/view/").Replace(weatherTool)
		if got := jsonMember(t, send("tools/list", "{}"), "tools"); got != "["+want+"]" {
			t.Errorf("%s: the tool is\n%s\nwant\n%s", version, got, want)
		}
		_, send = s.alone(t, "weather").connectAs(t, version)
		if got := jsonMember(t, send("tools/list", "{}"), "tools"); got != "["+weatherTool+"]" {
			t.Errorf("%s: alone, the tool is\n%s\nwant\n%s", version, got, weatherTool)
		}
	}
}

// Older clients refuse a whole list with a tool whose structured content is no object.
func TestOutputThatOlderClientsDoNotKnow(t *testing.T) {
	list := weather()
	list.Call = func(context.Context, generators.Yield, catalogue.Request) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"resource_link","uri":"x:1","name":"n"}],"structuredContent":[1]}`), nil
	}
	s, c := newUpstreamServer(t, mcp.Config{}, list)
	c.SetTools("weather", rawList(`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`))
	for version, want := range map[string]string{
		"2025-03-26": `{"content":[{"type":"text","text":"n: x:1"}]}`,
		"2025-06-18": `{"content":[{"type":"resource_link","uri":"x:1","name":"n"}]}`,
		"2025-11-25": `{"content":[{"type":"resource_link","uri":"x:1","name":"n"}]}`,
		"2026-07-28": `{"content":[{"type":"resource_link","uri":"x:1","name":"n"}],"structuredContent":[1],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"beam","version":"test"}}}`,
	} {
		_, send := s.connectAs(t, version)
		if got := strings.Contains(send("tools/list", "{}"), "outputSchema"); got != (version == "2026-07-28") {
			t.Errorf("%s: the output schema is listed: %v", version, got)
		}
		if got := send("tools/call", `{"name":"weather__t"}`); got != want {
			t.Errorf("%s: the result is %s, want %s", version, got, want)
		}
	}
}

func TestResultsOfUpstreamsReachClientsAsTheyAre(t *testing.T) {
	s, c := newUpstreamServer(t, mcp.Config{}, weather())
	c.SetTools("weather", rawList(weatherTool))
	mapped := strings.ReplaceAll(weatherResult, "ui://view/", "ui://weather/view/")
	for version := range upstreamClients {
		for _, tt := range []struct {
			server *testServer
			tool   string
			want   string
		}{{s, "weather__get_weather", mapped}, {s.alone(t, "weather"), "get.weather", weatherResult}} {
			_, send := tt.server.connectAs(t, version)
			got := send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"city":"Oslo"}}`, tt.tool))
			want := strings.Replace(tt.want, `,"io.modelcontextprotocol/serverInfo":{"name":"other"}`, "", 1)
			if version == "2026-07-28" {
				got = strings.Replace(got, `,"io.modelcontextprotocol/serverInfo":{"name":"beam","version":"test"}`, "", 1)
				got = strings.Replace(got, `"resultType":"complete",`, "", 1)
			}
			if version == "2025-03-26" {
				want = strings.Replace(want, `{"type":"resource_link","uri":"https://weather.example/x","name":"more","size":7}`, `{"type":"text","text":"more: https://weather.example/x"}`, 1)
			}
			if !sameValue(t, got, want) {
				t.Errorf("%s: the result is\n%s\nwant\n%s", version, got, want)
			}
		}
	}
}

// sameValue reports whether two texts are the same JSON, whose members may have another
// order and whose strings may be written otherwise.
func sameValue(t testing.TB, a, b string) bool {
	t.Helper()
	var texts [2]string
	for i, s := range []string{a, b} {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
		raw, _ := json.Marshal(v)
		texts[i] = string(raw)
	}
	return texts[0] == texts[1]
}

func TestAnErrorOfAnUpstreamsToolIsAnErrorResult(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"no such city"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"structuredContent":{"code":7},"isError":true}`
	failing := weather()
	failing.Call = func(context.Context, generators.Yield, catalogue.Request) (json.RawMessage, error) {
		return json.RawMessage(result), nil
	}
	s, c := newUpstreamServer(t, mcp.Config{}, failing)
	c.SetTools("weather", rawList(weatherTool))
	_, send := s.connectAs(t, "2025-11-25")
	if got := send("tools/call", `{"name":"weather__get_weather","arguments":{"city":"Oslo"}}`); got != result {
		t.Errorf("the result is %s", got)
	}
	runs := must(s.engine.Runs(operator, 0, nil))
	if len(runs) != 1 || runs[0].State != engine.Failed || runs[0].Error != "no such city" {
		t.Errorf("the runs are %+v", runs)
	}
	if got := send("tools/call", `{"name":"weather__get_weather","arguments":{"city":7}}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "city") {
		t.Errorf("invalid arguments: %s", got)
	}
}

// A large result is kept in a file, and isn't bounded by what a log's entry may have.
func TestALargeResultOfAnUpstream(t *testing.T) {
	large := strings.Repeat("0123456789", 130_000)
	result := fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":true}`, large)
	big := weather()
	big.Call = func(context.Context, generators.Yield, catalogue.Request) (json.RawMessage, error) {
		return json.RawMessage(result), nil
	}
	s, c := newUpstreamServer(t, mcp.Config{}, big)
	c.SetTools("weather", rawList(weatherTool))
	_, send := s.connectAs(t, "2025-11-25")
	if got := send("tools/call", `{"name":"weather__get_weather","arguments":{"city":"Oslo"}}`); got != result {
		t.Errorf("the result has %d bytes, want %d", len(got), len(result))
	}
	if runs := must(s.engine.Runs(operator, 0, nil)); runs[0].State != engine.Failed || !strings.HasPrefix(runs[0].Error, "0123") {
		t.Errorf("the run is %s: %.20s", runs[0].State, runs[0].Error)
	}
}
