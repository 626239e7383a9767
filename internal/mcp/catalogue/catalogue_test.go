package catalogue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/rule"
)

// source returns an upstream whose tools return result.
func source(name, result string) *catalogue.Source {
	return &catalogue.Source{Name: name, Call: func(context.Context, generators.Yield, catalogue.Request) (json.RawMessage, error) {
		return json.RawMessage(result), nil
	}}
}

func definitions(all ...string) []json.RawMessage {
	list := make([]json.RawMessage, len(all))
	for i, d := range all {
		list[i] = json.RawMessage(d)
	}
	return list
}

func named(names ...string) []json.RawMessage {
	var list []json.RawMessage
	for _, n := range names {
		list = append(list, fmt.Appendf(nil, `{"name":%q,"inputSchema":{"type":"object"}}`, n))
	}
	return list
}

func newCatalogue(t *testing.T, photons ...*generators.Photon) (*catalogue.Catalogue, *registry.Registry) {
	t.Helper()
	registry, err := registry.NewRegistry(photons...)
	if err != nil {
		t.Fatal(err)
	}
	return catalogue.New(registry), registry
}

// put adds an upstream with tools.
func put(c *catalogue.Catalogue, s *catalogue.Source, tools []json.RawMessage) []catalogue.LeftOut {
	c.Put(s)
	return c.SetTools(s.Name, tools)
}

func TestToolsFollowTheirUpstream(t *testing.T) {
	c, registry := newCatalogue(t)
	changes := 0
	defer registry.Watch(func() { changes++ })()
	s := source("files", `{"content":[]}`)
	if left := put(c, s, named("read", "write")); left != nil {
		t.Fatalf("left out: %v", left)
	}
	before, ok := registry.Lookup("files__read")
	if !ok || changes != 1 {
		t.Fatalf("the photon is there: %v, after %d changes", ok, changes)
	}
	if tool, ok := c.ToolOf(before); !ok || tool.Server != "files" || tool.Name != "read" {
		t.Errorf("the photon's tool is %+v, %v", tool, ok)
	}
	c.SetTools("files", named("read", "write"))
	if changes != 1 {
		t.Errorf("the same list is a change")
	}
	c.SetTools("files", named("list", "read"))
	if after, _ := registry.Lookup("files__read"); after != before || changes != 2 {
		t.Errorf("a tool that has not changed is replaced, or there were %d changes", changes)
	}
	if _, ok := registry.Lookup("files__write"); ok {
		t.Error("a removed tool is still there")
	}
	c.Remove("files")
	if _, ok := c.ToolOf(before); ok || len(registry.All()) != 0 {
		t.Error("tools of a removed upstream are left")
	}
}

// Whoever is notified of a change may read the catalogue, as the server of one upstream
// does.
func TestWatchersReadTheCatalogue(t *testing.T) {
	c, registry := newCatalogue(t)
	var known int
	defer registry.Watch(func() {
		known = 0
		for _, p := range registry.All() {
			if _, ok := c.ToolOf(p); ok {
				known++
			}
		}
	})()
	put(c, source("files", "{}"), named("read", "write"))
	if known != 2 {
		t.Errorf("when the tools had been added, %d were known", known)
	}
	c.Remove("files")
	if known != 0 {
		t.Errorf("when the upstream had been removed, %d were known", known)
	}
}

func TestCollidingNamesAreNamed(t *testing.T) {
	own := generators.New("files__list", func(context.Context, struct{}, generators.Yield) (string, error) { return "own", nil }, nil)
	c, registry := newCatalogue(t, own)
	left := put(c, source("files", "{}"), named("read.file", "read/file", "list", "write", "write"))
	if len(left) != 3 {
		t.Fatalf("left out: %v", left)
	}
	for i, want := range []string{`files's "read.file" and "read/file"`, `Beam's own tool files__list`, `two tools named "write"`} {
		if !strings.Contains(left[i].Err.Error(), want) || errors.Is(left[i].Err, catalogue.ErrCollision) != (i < 2) {
			t.Errorf("%s is left out: %v, want %s", left[i].Name, left[i].Err, want)
		}
	}
	if p, _ := registry.Lookup("files__list"); p != own {
		t.Error("the upstream's tool has replaced Beam's own")
	}
	if _, ok := registry.Lookup("files__read_file"); !ok {
		t.Error("the first of two colliding tools is missing")
	}
}

func TestMalformedDefinitionsAreLeftOut(t *testing.T) {
	c, registry := newCatalogue(t)
	left := put(c, source("s", "{}"), definitions(
		`{"inputSchema":{"type":"object"}}`,
		`{"name":"a"}`,
		`{"name":"b","inputSchema":true}`,
		`{"name":"c","inputSchema":{"type":"array"}}`,
		`{"name":"d","inputSchema":{"type":"object"},"title":7}`,
		`{"name":"e","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}`,
		`{"name":"f","inputSchema":{"type":"object"},"_meta":[]}`,
		`{"name":"g\u0000","inputSchema":{"type":"object"}}`,
		`["h"]`,
		`{"name":"j","description":"reads","Description":"deletes","inputSchema":{"type":"object"}}`,
		`{"name":"k","description":"reads","description":"deletes","inputSchema":{"type":"object"}}`,
		// The official Go client refuses a whole list for one tool like this.
		`{"name":"i","inputSchema":{"type":"object","properties":{"x":`+strings.Repeat(`{"items":`, 1000)+"{}"+strings.Repeat("}", 1000)+`}}}`,
		`{"name":"good","inputSchema":{"properties":{"x":{"type":"string"},"y": true,"z":false}}}`,
	))
	if len(left) != 12 || len(registry.All()) != 1 {
		t.Errorf("%d are left out, %d offered: %v", len(left), len(registry.All()), left)
	}
	// What clients require, and means the same, is added.
	good, _ := registry.Lookup("s__good")
	const want = `{"name":"good","inputSchema":{"type":"object","properties":{"x":{"type":"string"},"y": {},"z":{"not":{}}}}}`
	if got := string(good.Options().Definition); got != want {
		t.Errorf("the completed definition is %s", got)
	}
}

// hostileSchemas are schemas that an upstream can keep a validator busy with.
func hostileSchemas() map[string]string {
	bomb := `"a0":{"type":"string"}`
	for i := range 40 {
		bomb += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i+1, i, i)
	}
	return map[string]string{
		"endless":    `{"type":"object","properties":{"x":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}}}`,
		"bomb":       `{"type":"object","properties":{"x":{"$ref":"#/$defs/a40"}},"$defs":{` + bomb + `}}`,
		"pattern":    `{"type":"object","properties":{"x":{"type":"string","pattern":"^((a{0,900}b{0,900}){0,1}c{0,900}){0,1}(.{0,999}){0,1}(.{0,998})$"}}}`,
		"lookahead":  `{"type":"object","properties":{"x":{"type":"string","pattern":"^(?!no)"}}}`,
		"elsewhere":  `{"type":"object","properties":{"x":{"$ref":"https://example.com/schema.json"}}}`,
		"huge":       `{"type":"object","properties":{"x":{"type":"integer","multipleOf":1e-999999}}}`,
		"not schema": `{"type":"object","properties":{"x":{"type":"strin"}}}`,
		"wrong":      `{"type":"object","properties":[1,2]}`,
	}
}

// A schema that Beam can't use is the upstream's to check, and the tool's page says so.
func TestUnusableSchemasAreLeftToTheUpstream(t *testing.T) {
	start := time.Now()
	for name, schema := range hostileSchemas() {
		c, registry := newCatalogue(t)
		if left := put(c, source("s", "{}"), definitions(`{"name":"t","inputSchema":`+schema+`}`)); left != nil {
			t.Errorf("%s: left out: %v", name, left)
			continue
		}
		p, _ := registry.Lookup("s__t")
		if tool, _ := c.ToolOf(p); tool.Unchecked == nil {
			t.Errorf("%s: Beam uses the schema", name)
		}
		args := json.RawMessage(`{"x": 1.0, "y": ["as it is"]}`)
		if got, err := p.Check(args); err != nil || string(got) != string(args) {
			t.Errorf("%s: the arguments become %s, %v", name, got, err)
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

// Arguments are checked, and otherwise reach the upstream as they are: without defaults,
// with their order and numbers, and with formats that only the upstream may judge. Those of
// MCP's forms are checked as those of photons are.
func TestArgumentsAreCheckedAndLeftAsTheyAre(t *testing.T) {
	c, registry := newCatalogue(t)
	var got string
	s := &catalogue.Source{Name: "s", Call: func(_ context.Context, _ generators.Yield, r catalogue.Request) (json.RawMessage, error) {
		got = r.Method + " " + string(r.Params)
		return json.RawMessage(`{"content":[]}`), nil
	}}
	put(c, s, definitions(`{"name":"a \"tool\"","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{`+
		`"z":{"type":"number"},"id":{"type":"string","format":"uuid"},"like":{"type":"string","format":"regex"},"when":{"type":"string","format":"date-time"},`+
		`"day":{"type":"string","format":"date"},"to":{"type":"string","format":"email"},"at":{"type":"string","format":"uri"},"d":{"type":"string","default":"x"},"tree":{"$ref":"#/$defs/tree"}},`+
		`"$defs":{"tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/tree"}}}},"required":["z"]}}`))
	p := registry.All()[0]
	if _, err := p.Check(json.RawMessage(`{"z":"one"}`)); err == nil {
		t.Error("a text is accepted as a number")
	}
	if _, err := p.Check(json.RawMessage(`{"z":1,"tree":{"left":{"left":7}}}`)); err == nil {
		t.Error("a tree with a number in it is accepted")
	}
	for _, format := range []string{"date-time", "date", "email", "uri"} {
		name := map[string]string{"date-time": "when", "date": "day", "email": "to", "uri": "at"}[format]
		_, err := p.Check(fmt.Appendf(nil, `{"z":1,%q:"soon"}`, name))
		if want := "/" + name + " " + rule.Message(rule.Format, format, ""); err == nil || err.Error() != want {
			t.Errorf("the format %s: %v, want %s", format, err, want)
		}
	}
	beamtest.Run(t, p, json.RawMessage(`{"z": 1.0, "id":"(", "like":"(", "when":"2026-12-31T18:30:00Z"}`), nil)
	if want := `tools/call {"name":"a \"tool\"","arguments":{"z": 1.0, "id":"(", "like":"(", "when":"2026-12-31T18:30:00Z"}}`; got != want {
		t.Errorf("the upstream gets %s, want %s", got, want)
	}
}
