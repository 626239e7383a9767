package interop_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

const (
	version20250618 = "2025-06-18"
	version20251125 = "2025-11-25"
	version20260728 = "2026-07-28"
)

var protocolVersions = []string{version20250618, version20251125, version20260728}

// A connectedClient is a client of one library, over one transport, in one version.
type connectedClient struct {
	libraryClient
	library clientLibrary
	version string
	server  *programServer // nil over stdio
	console *programtest.Console
	person  *person

	signInMu sync.Mutex
	browser  *http.Client
}

// openPages returns where the client's user answers on Beam's pages.
func (c *connectedClient) openPages(ctx context.Context) (*pageUser, error) {
	c.signInMu.Lock()
	defer c.signInMu.Unlock()
	if c.server != nil {
		c.browser = c.server.browser
	}
	if c.browser == nil { // a sign-in address works only once
		var err error
		if c.browser, err = signIn(ctx, c.console); err != nil {
			return nil, err
		}
	}
	return &pageUser{c.browser}, nil
}

// runWithEveryClient runs a test with a client of every library, over both transports,
// in every version.
func runWithEveryClient(t *testing.T, persona func() *person, test func(t *testing.T, ctx context.Context, c *connectedClient)) {
	t.Helper()
	h := startServer(t)
	t.Run("with", func(t *testing.T) { // ends before the server does
		for _, l := range clientLibraries {
			for _, transport := range []string{"stdio", "http"} {
				for _, version := range protocolVersions {
					t.Run(l.name+"/"+transport+"/"+version, func(t *testing.T) {
						t.Parallel()
						c := &connectedClient{library: l, version: version, console: programtest.NewConsole(), person: persona()}
						if transport == "http" {
							c.server = h
						}
						c.libraryClient = l.connect(t, c.server, c.console, version, c.person)
						ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
						defer cancel()
						test(t, ctx, c)
					})
				}
			}
		}
	})
}

func newCapablePerson() *person {
	return &person{forms: true, urls: true, sampling: true, roots: true, elicit: fillForm}
}

func nameArguments(name string) map[string]any { return map[string]any{"name": name} }

// expectOutcome calls a tool that asks, and compares its outcome, as JSON, with want.
func (c *connectedClient) expectOutcome(t *testing.T, ctx context.Context, tool string, arguments map[string]any, want string) {
	t.Helper()
	r, err := c.callTool(ctx, tool, arguments, nil)
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return
	}
	if r.IsError || !equalJSON(string(r.Structured), want) {
		t.Errorf("%s: the result is %s %s, want %s", tool, r.text(), r.Structured, want)
	}
}

func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// expectRefusal calls a tool that must fail with a text that contains all of want.
// Before 2026-07-28 the failure is a result; from then on it may be an error.
func (c *connectedClient) expectRefusal(t *testing.T, ctx context.Context, tool string, want ...string) {
	t.Helper()
	r, err := c.callTool(ctx, tool, nil, nil)
	var said string
	switch {
	case err != nil && c.version != version20260728:
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
	if c.library.name == "mcp-go" && c.version == version20260728 && strings.HasPrefix(said, "missing required client capability") {
		return // its own text for -32021 does not name the capability
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("%s failed with %q, want it to contain %q", tool, said, w)
		}
	}
}

func TestClients(t *testing.T) {
	runWithEveryClient(t, newCapablePerson, func(t *testing.T, _ context.Context, c *connectedClient) {
		for _, k := range []struct {
			name string
			test func(*testing.T, context.Context, *connectedClient)
		}{
			{"every kind of question", checkEveryKind}, {"answered on the page, then agreed", checkPageBeforeConsent}, {"agreed, then answered on the page", checkConsentBeforePage},
			{"decline and cancel", checkDeclineAndCancel}, {"invalid answers", checkInvalidAnswers}, {"a question's time runs out", checkTimeout},
			{"calls are given up", checkCancelledCalls}, {"calls at once", checkConcurrentCalls}, {"progress", checkProgressOrder}, {"results", checkResults},
		} {
			t.Run(k.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
				defer cancel()
				c.person.takeQuestions()
				c.person.elicit = fillForm
				c.person.setOnProgress(nil)
				k.test(t, ctx, c)
			})
		}
	})
}
