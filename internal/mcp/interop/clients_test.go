package interop_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/programtest"
)

const (
	june2025     = "2025-06-18"
	november2025 = "2025-11-25"
	july2026     = "2026-07-28"
)

var versions = []string{june2025, november2025, july2026}

// connected is a client of one library, over one transport, in one version.
type connected struct {
	client
	library library
	version string
	host    *host // nil over stdio
	console *programtest.Console
	person  *person

	signingIn sync.Mutex
	browser   *http.Client
}

// desk is where the client's person answers on Beam's pages.
func (c *connected) desk(ctx context.Context) (*desk, error) {
	c.signingIn.Lock()
	defer c.signingIn.Unlock()
	if c.host != nil {
		c.browser = c.host.browser
	}
	if c.browser == nil { // the sign-in address is used up at once
		var err error
		if c.browser, err = signIn(ctx, c.console); err != nil {
			return nil, err
		}
	}
	return &desk{c.browser}, nil
}

// everywhere runs a test with a client of every library, over both transports,
// in every version.
func everywhere(t *testing.T, persona func() *person, test func(t *testing.T, ctx context.Context, c *connected)) {
	t.Helper()
	h := serve(t)
	t.Run("with", func(t *testing.T) { // ends before the host does
		for _, l := range libraries {
			for _, transport := range []string{"stdio", "http"} {
				for _, version := range versions {
					t.Run(l.name+"/"+transport+"/"+version, func(t *testing.T) {
						t.Parallel()
						c := &connected{library: l, version: version, console: programtest.NewConsole(), person: persona()}
						if transport == "http" {
							c.host = h
						}
						c.client = l.dial(t, c.host, c.console, version, c.person)
						ctx, cancel := context.WithTimeout(t.Context(), patience)
						defer cancel()
						test(t, ctx, c)
					})
				}
			}
		}
	})
}

func everything() *person {
	return &person{forms: true, urls: true, sampling: true, roots: true, elicit: fill}
}

func args(name string) map[string]any { return map[string]any{"name": name} }

// settled calls a tool that asks, and holds its outcome against what it should
// be, as JSON.
func (c *connected) settled(t *testing.T, ctx context.Context, tool string, arguments map[string]any, want string) {
	t.Helper()
	r, err := c.call(ctx, tool, arguments, nil)
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return
	}
	if r.IsError || !sameJSON(string(r.Structured), want) {
		t.Errorf("%s: the result is %s %s, want %s", tool, r.text(), r.Structured, want)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// refused calls a tool that has to fail with words that contain all of want.
// Before 2026-07-28 that is a result, and may be an error from then on.
func (c *connected) refused(t *testing.T, ctx context.Context, tool string, want ...string) {
	t.Helper()
	r, err := c.call(ctx, tool, nil, nil)
	var said string
	switch {
	case err != nil && c.version != july2026:
		t.Errorf("%s: %v, want a result", tool, err)
		return
	case err != nil:
		said = err.Error()
	case !r.IsError:
		t.Errorf("%s succeeded with %s", tool, r.Structured)
		return
	default:
		said = r.text()
	}
	if c.library.name == "mcp-go" && c.version == july2026 && strings.HasPrefix(said, "missing required client capability") {
		return // it has words of its own for -32021, without the capability
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("%s failed with %q, want it to say %q", tool, said, w)
		}
	}
}

func TestClients(t *testing.T) {
	everywhere(t, everything, func(t *testing.T, _ context.Context, c *connected) {
		for _, k := range []struct {
			name string
			test func(*testing.T, context.Context, *connected)
		}{
			{"every kind of question", everyKind}, {"answered on the page, then agreed", pagesFirst}, {"agreed, then answered on the page", pagesLast},
			{"decline and cancel", noAnswer}, {"invalid answers", invalidAnswers}, {"a question's time runs out", timesOut},
			{"calls are given up", giveUp}, {"calls at once", atOnce}, {"progress", progressAll}, {"results", results},
		} {
			t.Run(k.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				c.person.questions()
				c.person.elicit = fill
				c.person.hear(nil)
				k.test(t, ctx, c)
			})
		}
	})
}
