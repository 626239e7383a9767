package passthrough_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam"
)

// Without links to Beam's page, an upstream is told exactly what its caller can be asked, and
// learns so of each caller.
func TestCapabilitiesAreTheCallers(t *testing.T) {
	for _, up := range []string{v20250618, v20251125, v20260728} {
		file := configFile(t, map[string]any{"test": serveTestServer(t, up)})
		mirroring := newGateway(t, beam.Config{Upstreams: []string{file}, Asks: beam.AskPolicy{NoLink: true}})
		linking := newGateway(t, beam.Config{Upstreams: []string{file}})
		for _, down := range []string{v20251125, v20260728} {
			for _, c := range []struct {
				o    clientOptions
				want string
			}{
				{clientOptions{}, ``},
				{clientOptions{forms: true}, `elicitation.form`},
				{clientOptions{urls: true}, `elicitation.url`},
				{clientOptions{forms: true, urls: true}, `elicitation.form elicitation.url`},
			} {
				c.o.version = down
				s := mirroring.connect(t, c.o, &person{answer: agree})
				if got := declaredBy(call(t, s, "test__client_capabilities", nil)); got != c.want {
					t.Errorf("%s to %s: a client with %+v is declared as %q", up, down, c.o, got)
				}
			}
			s := linking.connect(t, clientOptions{version: down}, &person{})
			if got := declaredBy(call(t, s, "test__client_capabilities", nil)); got != "elicitation.form elicitation.url roots sampling.tools" {
				t.Errorf("%s to %s: with links, declared is %q", up, down, got)
			}
		}
	}
}

// declaredBy returns the capabilities in a result, as their names with those of their parts.
func declaredBy(_ any, text string) string {
	var declared map[string]map[string]any
	if json.Unmarshal([]byte(text), &declared) != nil {
		return "not JSON: " + text
	}
	delete(declared, "extensions")
	var names []string
	for name, parts := range declared {
		if len(parts) == 0 {
			names = append(names, name)
		}
		for part := range maps.Keys(parts) {
			names = append(names, name+"."+part)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// An upstream that asks what its caller can't be asked gets the error that says so.
func TestUndeclaredQuestionsAreRefused(t *testing.T) {
	g := newGateway(t, beam.Config{
		Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, v20251125)})}, Asks: beam.AskPolicy{NoLink: true},
	})
	for _, down := range []string{v20251125, v20260728} {
		p := &person{answer: agree}
		none, forms := g.connect(t, clientOptions{version: down}, p), g.connect(t, clientOptions{version: down, forms: true}, p)
		for _, c := range []struct {
			tool, code string
			ofForms    string
		}{
			{"test__ask_text", "-32601", ""}, {"test__ask_url", "-32601", "-32602"},
			{"test__sample_text", "-32601", "-32601"}, {"test__list_roots", "-32601", "-32601"},
		} {
			if _, text := call(t, none, c.tool, nil); !strings.Contains(text, c.code) {
				t.Errorf("%s from a client of %s without capabilities: %s", c.tool, down, text)
			}
			if _, text := call(t, forms, c.tool, nil); !strings.Contains(text, c.ofForms) || c.ofForms == "" && strings.Contains(text, "-326") {
				t.Errorf("%s from a client of %s with forms: %s", c.tool, down, text)
			}
		}
	}
}
