package beam_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

// largeText is a text that JSON must escape, larger than what readers load.
var largeText = strings.Repeat("a \"line\" with \\ and é\n", 60_000)

type largeObject struct {
	Lines []string `json:"lines"`
}

var largeValue = largeObject{strings.Split(largeText, "\n")}

var (
	sayMuch    = generators.New("say_much", func(context.Context, struct{}, generators.Yield) (string, error) { return largeText, nil }, nil)
	returnMuch = generators.New("return_much", func(context.Context, struct{}, generators.Yield) (largeObject, error) { return largeValue, nil }, nil)
)

// TestLargeResults reads large results wherever they can be read: they are what the tool
// has returned.
func TestLargeResults(t *testing.T) {
	b := newBeam(t, beam.Config{Photons: []*generators.Photon{sayMuch, returnMuch}})
	url := serve(t, b)
	p := newBrowser(t, url)
	object, err := json.Marshal(largeValue)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(largeText)
	clients := map[string]*mcp.ClientSession{"stdio": connectGoSDK(t, b, newChanges())}
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		clients[version] = connectHTTP(t, url, version)
	}
	for _, tt := range []struct {
		photon     string
		text       string // for people
		structured string
		raw        string
	}{
		{"say_much", largeText, `{"result":` + string(text) + `}`, string(text)},
		{"return_much", string(object), string(object), string(object)},
	} {
		run := p.start("/photons/" + tt.photon + "/runs")
		check := func(where string, content string, structured any) {
			t.Helper()
			if content != tt.text {
				t.Errorf("%s of %s: the text has %d bytes, want %d: %.80s", where, tt.photon, len(content), len(tt.text), content)
			}
			var want any
			_ = json.Unmarshal([]byte(tt.structured), &want)
			got, _ := json.Marshal(structured)
			again, _ := json.Marshal(want)
			if string(got) != string(again) {
				t.Errorf("%s of %s: the structured content has %d bytes, want %d: %.80s", where, tt.photon, len(got), len(again), got)
			}
		}
		content, structured := finalResult(t, p, run.Events)
		check("events", content, structured)
		for where, c := range clients {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.photon})
			if err != nil {
				t.Fatalf("%s over %s: %v", tt.photon, where, err)
			}
			check(where, r.Content[0].(*mcp.TextContent).Text, r.StructuredContent)
		}
		res, body := p.do("GET", "/runs/"+run.ID+"/result", "")
		if res.StatusCode != http.StatusOK || body != tt.raw || res.Header.Get("Content-Disposition") == "" {
			t.Errorf("the download of %s is %s with %d bytes", tt.photon, res.Status, len(body))
		}
		page := p.page("/runs/" + run.ID)
		if len(page) > 100_000 || !strings.Contains(page, "of which this is the beginning") || !strings.Contains(page, "/runs/"+run.ID+"/result") || !strings.Contains(page, "with") {
			t.Errorf("the page of %s has %d bytes", tt.photon, len(page))
		}
	}
}

// finalResult reads a run's stream to the result.
func finalResult(t *testing.T, p *browser, path string) (content string, structured any) {
	t.Helper()
	res, body := p.do("GET", path, "")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %s", res.Status)
	}
	lines := strings.Split(strings.TrimSpace(body), "\n")
	var m struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent any
		}
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[len(lines)-1], "data: ")), &m); err != nil || len(m.Result.Content) != 1 {
		t.Fatalf("the last message of %d: %v", len(lines), err)
	}
	return m.Result.Content[0].Text, m.Result.StructuredContent
}

// connectHTTP connects the official Go client over HTTP.
func connectHTTP(t *testing.T, url, version string) *mcp.ClientSession {
	t.Helper()
	sdk := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := sdk.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url + "/mcp"}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestLargeResultOverStdio checks that a result whose message is larger than what a client
// may leave unread reaches a client over stdio, also in a batch.
func TestLargeResultOverStdio(t *testing.T) {
	const size = 64<<20 - len(`""`) // the largest result
	huge := generators.New("say_more", func(context.Context, struct{}, generators.Yield) (string, error) {
		return strings.Repeat("x", size), nil
	}, nil)
	b := newBeam(t, beam.Config{Photons: []*generators.Photon{huge, sayMuch}})
	toBeam, in := io.Pipe()
	out, fromBeam := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- b.ServeStdio(t.Context(), toBeam, fromBeam); fromBeam.Close() }()
	lines := bufio.NewReaderSize(out, 1<<20)
	call := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`
	for _, step := range []struct {
		send string
		min  int // bytes of the response
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 1},
		{fmt.Sprintf(call, 2, "say_more"), size},
		{"[" + fmt.Sprintf(call, 3, "say_much") + "," + fmt.Sprintf(call, 4, "say_much") + `,{"jsonrpc":"2.0","id":5,"method":"ping"}]`, 2 * len(largeText)},
		{`{"jsonrpc":"2.0","id":6,"method":"ping"}`, 1},
	} {
		if _, err := io.WriteString(in, step.send+"\n"); err != nil {
			t.Fatal(err)
		}
		got, ends := 0, ""
		for {
			part, err := lines.ReadSlice('\n')
			got, ends = got+len(part), string(part[max(0, len(part)-200):])
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				t.Fatalf("after %d bytes: %v", got, err)
			}
		}
		if got < step.min || strings.HasPrefix(step.send, "[") != strings.HasSuffix(ends, `"id":5,"result":{}}]`+"\n") {
			t.Errorf("the response to %.80s has %d bytes, and ends with %s", step.send, got, ends)
		}
	}
	in.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
