//lint:file-ignore SA1019 sampling and roots are deprecated, and tested as long as there are servers that use them

package testserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/testserver"
)

// newServer returns a test server whose process doesn't end.
func newServer(t *testing.T, o testserver.Options) *testserver.Server {
	t.Helper()
	o.Stderr = t.Output()
	o.Exit = func(status int) { t.Logf("exit status %d", status) }
	s, err := testserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// connectOfficial connects the official client, whose person answers each question with
// action, and whose model with Paris.
func connectOfficial(t *testing.T, o testserver.Options, overHTTP bool, action string) *mcp.ClientSession {
	t.Helper()
	s := newServer(t, o)
	client := mcp.NewClient(&mcp.Implementation{Name: "official", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{}, Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: action, Content: contentFor(r.Params.RequestedSchema)}, nil
		},
		CreateMessageWithToolsHandler: func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "oracle", Content: []mcp.Content{&mcp.TextContent{Text: "Paris"}}}, nil
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///srv/data", Name: "data"})
	var to mcp.Transport
	if overHTTP {
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		to = &mcp.StreamableClientTransport{Endpoint: h.URL}
	} else {
		fromServer, toClient := io.Pipe()
		fromClient, toServer := io.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); s.ServeStdio(context.Background(), fromClient, toClient); toClient.Close() }()
		t.Cleanup(func() { toServer.Close(); <-done })
		to = &mcp.IOTransport{Reader: fromServer, Writer: toServer, MaxLineLength: -1}
	}
	session, err := client.Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// contentFor returns an answer to a form: what each field of the server's forms accepts.
func contentFor(schema any) map[string]any {
	raw, _ := json.Marshal(schema)
	var form struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	if json.Unmarshal(raw, &form) != nil {
		return nil
	}
	answers := map[string]any{
		"text": "Ada", "email": "ada@example.com", "number": 3.5, "integer": 7, "boolean": true, "name": "Ada", "password": "hunter2", "outputFormat": "json",
		"color": "red", "colors": []string{"red"},
	}
	content := map[string]any{}
	for _, name := range form.Required {
		content[name] = answers[name]
		if field, _ := json.Marshal(form.Properties[name]); strings.Contains(string(field), "#f00") {
			content[name] = "#f00"
			if strings.Contains(string(field), "array") {
				content[name] = []string{"#f00"}
			}
		}
	}
	return content
}

// lines speaks to a server over its standard streams, a line at a time.
type lines struct {
	t   *testing.T
	in  *io.PipeWriter
	out *json.Decoder
	raw *io.PipeReader
}

func connectLines(t *testing.T, o testserver.Options) *lines {
	t.Helper()
	s := newServer(t, o)
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); s.ServeStdio(context.Background(), fromClient, toClient); toClient.Close() }()
	t.Cleanup(func() { toServer.Close(); go io.Copy(io.Discard, fromServer); <-done })
	return &lines{t: t, in: toServer, raw: fromServer, out: json.NewDecoder(fromServer)}
}

// send sends a line.
func (l *lines) send(line string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

// next returns the next message.
func (l *lines) next() string {
	l.t.Helper()
	var message json.RawMessage
	if err := l.out.Decode(&message); err != nil {
		l.t.Fatal(err)
	}
	return string(message)
}

// initialize opens a session.
func (l *lines) initialize(version string) string {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{"elicitation":{},"sampling":{}},"clientInfo":{"name":"lines","version":"1"}}}`)
	return l.next()
}
