package beam_test

import (
	"context"
	"encoding/json"
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
