package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

// The capabilities of clients that show apps: claude.ai's, which has no elicitation, and
// those of one that also has tasks.
const (
	showsApps         = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`
	showsAppsAndTasks = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"io.modelcontextprotocol/tasks":{}}}`
)

// showingPhoton returns a photon that declares that it asks, and asks one question.
func showingPhoton[T any](name string, prompt *ask.Prompt[T], o generators.Options) *generators.Photon {
	o.Asks = true
	return generators.New(name, func(_ context.Context, _ none, yield generators.Yield) (T, error) { return prompt.Ask(yield) }, &o)
}

var (
	cityPhoton   = showingPhoton("city", ask.ForText("city", "Which city?", ask.Length(2, 40)), generators.Options{Title: "City"})
	dropPhoton   = showingPhoton("drop", ask.ForConfirm("ok", "Drop it?", ask.Destructive(), ask.Showing()), generators.Options{})
	secretPhoton = showingPhoton("login", ask.ForSecret("key", "Which key?"), generators.Options{})
)

// newAppServer returns a server that shows runs in chats.
func newAppServer(t testing.TB, photons ...*generators.Photon) *testServer {
	t.Helper()
	return newTestServerWith(t, appConfig(), runlog.NewMemory(), photons...)
}

func appConfig() mcp.Config { return appConfigWith(smallstate.NewMemory()) }

func appConfigWith(marks smallstate.Store) mcp.Config {
	return mcp.Config{AskPolicy: mcp.DefaultAskPolicy(), Apps: mcp.Apps{Marks: apps.NewMarks(marks)}}
}

// An appClient is a client that shows apps, in some version of the protocol.
type appClient struct {
	*stdioClient
	version, capabilities string
	lastID                int
}

func (b *testServer) connectApp(t testing.TB, caller generators.Caller, version, capabilities string) *appClient {
	t.Helper()
	c := &appClient{stdioClient: b.connectStdioAs(t, caller), version: version, capabilities: capabilities}
	if version < "2026-07-28" {
		c.initialize(version, capabilities)
	}
	return c
}

// send sends a request and returns the response.
func (c *appClient) send(method, params string) string {
	c.t.Helper()
	c.lastID++
	if c.version >= "2026-07-28" {
		meta := modernMeta(c.capabilities, `,"io.modelcontextprotocol/clientInfo":{"name":"wire","version":"1"}`)
		if params = params[1:]; params != "}" {
			meta += ","
		}
		params = "{" + meta + params
	}
	c.sendLine(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.lastID, method, params)
	return c.awaitResponse(c.lastID)
}

// tool calls a tool and returns its result.
func (c *appClient) tool(name, arguments string) (r appResult) {
	c.t.Helper()
	response := c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	err := json.Unmarshal([]byte(jsonMember(c.t, response, "result")), &r)
	if err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) { // as structured content that is no object
		c.t.Fatalf("%s: %v", response, err)
	}
	r.raw = response
	return r
}

// ask calls a tool that asks, and returns its run and the id of its question.
func (c *appClient) ask(tool string) (run, question string) {
	c.t.Helper()
	return c.askWith(tool, `{}`)
}

// askWith is ask with arguments.
func (c *appClient) askWith(tool, arguments string) (run, question string) {
	c.t.Helper()
	r := c.tool(tool, arguments)
	if r.Structured.Run == "" || r.IsError {
		c.t.Fatalf("%s returns %s", tool, r.raw)
	}
	s := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, r.Structured.Run)).Structured
	if len(s.Questions) != 1 {
		c.t.Fatalf("the view reads %+v", s)
	}
	return r.Structured.Run, s.Questions[0].ID
}

// act does something in the view.
func (c *appClient) act(run, action, more string) appResult {
	c.t.Helper()
	return c.tool(apps.ActTool, fmt.Sprintf(`{"run":%q,"action":%q%s}`, run, action, more))
}

// an appResult is a result of a tool, of a call that was handed off or of the view's.
type appResult struct {
	raw     string
	Content []struct{ Text string }
	IsError bool
	Meta    json.RawMessage `json:"_meta"`

	Structured struct {
		Run       string `json:"beam_run"`
		Error     string
		Questions []struct{ ID, HTML, Question, Address string }
		State     string
		Ended     bool
		Seq       uint64
		Rows      []struct{ ID, HTML string }
		Result    string
		Inbox     string
		Next      string
		Told      apps.Told
		Settled   bool
		Claimed   bool
		Invalid   *struct{ HTML string }
	} `json:"structuredContent"`
}
