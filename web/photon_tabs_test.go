package web_test

import (
	"context"
	"encoding/json"
	"html"
	"os/exec"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/web"
)

var greet = newGreet()

func newGreet() *generators.Photon {
	input, err := generators.ParseSchema(json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"secret":{"type":"string","format":"password"},"any":{}},"required":["name"]}`))
	if err != nil {
		panic(err)
	}
	return generators.FromSchema("greet", input, nil, func(_ context.Context, args json.RawMessage, _ generators.Yield) (json.RawMessage, error) {
		return args, nil
	}, &generators.Options{Examples: []any{map[string]string{"name": "Ada"}}})
}

// The page has the entry of each client, with the program's real path, and the address.
func TestConnectPage(t *testing.T) {
	program := connect.Entry{Name: "beam", Command: "/opt/my beam", Args: []string{"stdio", "--open"}}
	p := newSiteWith(t, func(c *web.Config) { c.Program, c.MCP = program, noMCP{} }, greet).newSession()
	page := html.UnescapeString(p.page("/photons/greet/connect?name=Bo"))
	for _, name := range []string{"claude-desktop", "claude-code", "cursor", "vscode"} {
		c, err := connect.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page, c.Title) || !strings.Contains(page, string(c.Document(program))) {
			t.Errorf("the page lacks the entry of %s", name)
		}
	}
	if !strings.Contains(page, p.URL+"/mcp") || !strings.Contains(page, `href="/photons/greet/api?name=Bo"`) {
		t.Error("the page lacks the address, or the arguments for the other tabs")
	}
	if !strings.Contains(page, "Claude Code 2.1") || !strings.Contains(page, "over HTTP, 1 question open") {
		t.Error("the page doesn't say who is connected")
	}
	if other := newSite(t, "", greet).newSession().page("/photons/greet/connect"); !strings.Contains(other, "serves no MCP endpoint") {
		t.Error("a program without MCP doesn't say so")
	}
}

// The command on the page starts a run with the values of the address, whatever they are.
func TestAPIPage(t *testing.T) {
	s := newSite(t, "", greet)
	p := s.newSession()
	page := p.page("/photons/greet/api?name=" + `O'Hara+%22%24(id)%22+%5C&secret=hunter22`)
	if strings.Contains(page, "hunter22") {
		t.Error("the page has a secret")
	}
	start := strings.Index(page, "<code>curl -s")
	command := html.UnescapeString(page[start+len("<code>") : start+strings.Index(page[start:], "</code>")])
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	c := exec.CommandContext(t.Context(), "sh", "-c", command)
	c.Dir = t.TempDir()
	out, err := c.Output()
	if err != nil || !strings.Contains(string(out), `"events":`) {
		t.Fatalf("%v: %s\n%s", err, out, command)
	}
	var started startedRun
	if err := json.Unmarshal(out, &started); err != nil {
		t.Fatal(err)
	}
	operator := generators.Caller{ID: "operator", Roles: []string{generators.RoleOperator}}
	batches, err := s.engine.Read(t.Context(), operator, started.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for batch := range batches {
		if !strings.Contains(string(batch[0].Data), `O'Hara \"$(id)\" \\`) {
			t.Errorf("the run was started with %s", batch[0].Data)
		}
		break
	}
	for _, want := range []string{"inputSchema.properties.any: has no rule", "http://", "/runs/RUN/events", "/mcp/request"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestExamplesFillInTheForm(t *testing.T) {
	p := newSite(t, "", greet).newSession()
	if page := p.page("/photons/greet"); !strings.Contains(page, `<a href="/photons/greet?name=Ada">Ada</a>`) {
		t.Error("the example isn't offered")
	}
	if page := p.page("/photons/greet?name=Ada"); !strings.Contains(page, `value="Ada"`) {
		t.Error("the form isn't filled in")
	}
}
