package passthrough_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/internal/testserver"
)

// What an upstream of one version asks is asked of a client of another by that client's
// own means: an upstream of 2025-06-18 can ask a client of 2026-07-28, and the reverse.
func TestAsksBetweenAllVersions(t *testing.T) {
	for _, up := range []string{v20250618, v20251125, v20260728} {
		g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})}})
		for _, down := range []string{v20250618, v20251125, v20260728} {
			t.Run(up+" to "+down, func(t *testing.T) {
				p := &person{answer: agree}
				s := g.connect(t, clientOptions{version: down, forms: true, urls: down != v20250618}, p)
				for tool, want := range map[string]string{
					"test__ask_text": `"text": "Ada"`, "test__ask_titled_enum": `"color": "#f00"`, "test__ask_confirm": `"action": "accept"`,
				} {
					if up == v20250618 && strings.Contains(tool, "titled") {
						continue // that version has another form of it
					}
					_, text := call(t, s, tool, nil)
					if !strings.Contains(text, want) {
						t.Errorf("%s returns %s, want %s", tool, text, want)
					}
					if asked := p.takeAsked(); len(asked) != 1 || asked[0].Mode == "url" {
						t.Errorf("%s: the client was asked %d times", tool, len(asked))
					}
				}
			})
		}
	}
}

// A URL that an upstream asks to open is the client's to open, and the end of it is told
// in each version's way, also if the other has none.
func TestURLsBetweenAllVersions(t *testing.T) {
	for _, up := range []string{v20251125, v20260728} {
		for _, down := range []string{v20251125, v20260728} {
			t.Run(up+" to "+down, func(t *testing.T) {
				opened := make(chan struct{}, 100)
				g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServerWith(t, testserver.Options{Protocol: up, Opened: opened})})}})
				for _, tool := range []string{"test__ask_url", "test__require_url"} {
					p := &person{}
					open := sync.OnceFunc(func() { opened <- struct{}{} })
					p.answer = func(q *mcp.ElicitParams) *mcp.ElicitResult {
						open()
						return agree(q)
					}
					s := g.connect(t, clientOptions{version: down, forms: true, urls: true}, p)
					r, text := call(t, s, tool, map[string]any{"after": 3_600_000}) // unless it is opened before
					if r.IsError {
						t.Errorf("%s returns the error %s", tool, text)
					}
					asked := p.takeAsked()
					if len(asked) == 0 || asked[0].Mode != "url" || !strings.Contains(asked[0].URL, "https://example.com/authorize") && !strings.HasPrefix(asked[0].URL, g.url) {
						raw, _ := json.Marshal(asked)
						t.Errorf("%s: the client was asked %s", tool, raw)
					}
				}
			})
		}
	}
}

// A client that can't be asked gets the address of the question and a handle.
func TestAnUpstreamsQuestionIsHandedOff(t *testing.T) {
	for _, up := range []string{v20250618, v20260728} {
		g := newGateway(t, beam.Config{
			Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})},
			Asks:      beam.AskPolicy{Handoff: 10 * time.Millisecond},
		})
		for _, down := range []string{v20250618, v20251125, v20260728} {
			s := g.connect(t, clientOptions{version: down}, &person{})
			_, text := call(t, s, "test__ask_text", nil)
			if !strings.Contains(text, g.url+"/asks/") || !strings.Contains(text, "beam_resume") {
				t.Errorf("%s to %s: the result is %s", up, down, text)
			}
		}
	}
}

// A form that Beam can't show is refused, which the run and the client are told.
func TestAFormThatBeamCannotShowIsRefused(t *testing.T) {
	for _, up := range []string{v20251125, v20260728} {
		g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})}})
		p := &person{answer: agree}
		s := g.connect(t, clientOptions{version: v20251125, forms: true}, p)
		for _, tool := range []string{"test__fault_schema_unknown_type", "test__fault_schema_list"} {
			_, text := call(t, s, tool, nil)
			if len(p.takeAsked()) != 0 {
				t.Errorf("%s from %s: the client was asked", tool, up)
			}
			if up == v20251125 && !strings.Contains(text, "-32602") {
				t.Errorf("%s from %s: the result is %s", tool, up, text)
			}
		}
	}
}
