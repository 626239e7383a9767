package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

// startExample serves the example.
func startExample(t *testing.T) (*people, string) {
	t.Helper()
	var handler http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	tools := s.URL + "/tools"
	p := newPeople(tools, "ada", "alan")
	b, err := beam.New(beam.Config{Photons: []*generators.Photon{invite}, URL: tools, Identify: p.identify, MCP: addToMCP})
	if err != nil {
		t.Fatal(err)
	}
	handler = routes(b, p, tools)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := b.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return p, s.URL
}

// signIn returns the client of a person who has signed in.
func signIn(t *testing.T, p *people, site, name string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	if res, _ := send(t, c, "GET", site+"/tools/", "", nil); res.StatusCode != http.StatusUnauthorized {
		t.Fatalf("before signing in: %s", res.Status)
	}
	form := url.Values{"name": {name}, "password": {p.passwords[name]}}.Encode()
	res, body := send(t, c, "POST", site+"/sign-in", form, map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	if res.StatusCode != http.StatusOK || res.Request.URL.Path != "/tools/" {
		t.Fatalf("signing in: %s %s", res.Status, body)
	}
	return c
}

func send(t *testing.T, c *http.Client, method, url, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(raw)
}

func TestPeopleDoNotSeeEachOthersRuns(t *testing.T) {
	p, site := startExample(t)
	ada, alan := signIn(t, p, site, "ada"), signIn(t, p, site, "alan")
	_, body := send(t, ada, "POST", site+"/tools/photons/invite/runs", "{}", map[string]string{"Content-Type": "application/json"})
	var run struct{ ID, URL string }
	if err := json.Unmarshal([]byte(body), &run); err != nil {
		t.Fatalf("starting a run: %s", body)
	}
	if res, _ := send(t, ada, "GET", site+run.URL, "", nil); res.StatusCode != http.StatusOK || len(res.Cookies()) != 0 {
		t.Errorf("her own run: %s, with the cookies %v", res.Status, res.Cookies())
	}
	for _, path := range []string{run.URL, run.URL + "/events"} {
		if res, _ := send(t, alan, "GET", site+path, "", nil); res.StatusCode != http.StatusForbidden {
			t.Errorf("%s for another: %s", path, res.Status)
		}
	}
	if _, list := send(t, alan, "GET", site+"/tools/runs", "", map[string]string{"Accept": "application/json"}); strings.Contains(list, run.ID) {
		t.Errorf("another's list has the run: %s", list)
	}
}

// A browser answers what an MCP client of the same person can't ask.
func TestAnMCPClientOfAPerson(t *testing.T) {
	p, site := startExample(t)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: site + "/tools/mcp", HTTPClient: &http.Client{Transport: bearer(p.passwords["ada"])},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "dinner", Arguments: map[string]string{"guests": "Grace"}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "for Grace") {
		t.Errorf("the prompt is %+v, %v", prompt, err)
	}
	menu, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "dinner://menu"})
	if err != nil || menu.Contents[0].Text != "Soup, bread, cheese" {
		t.Errorf("the resource is %+v, %v", menu, err)
	}
	called := make(chan string, 1)
	go func() {
		result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "invite"})
		if err != nil {
			called <- err.Error()
			return
		}
		called <- result.Content[len(result.Content)-1].(*mcp.TextContent).Text
	}()
	ada, alan := signIn(t, p, site, "ada"), signIn(t, p, site, "alan")
	id := awaitQuestion(t, ada, site)
	answer := `{"jsonrpc":"2.0","id":"` + id + `","result":{"action":"accept","content":{"guest":"Grace"}}}`
	asJSON := map[string]string{"Content-Type": "application/json"}
	if res, _ := send(t, alan, "POST", site+"/tools/mcp/request", answer, asJSON); res.StatusCode != http.StatusForbidden {
		t.Errorf("another's answer: %s", res.Status)
	}
	if res, body := send(t, ada, "POST", site+"/tools/mcp/request", answer, asJSON); res.StatusCode != http.StatusAccepted {
		t.Fatalf("answering: %s %s", res.Status, body)
	}
	if got := <-called; !strings.Contains(got, "Grace is invited by Ada") {
		t.Errorf("the call's result is %q", got)
	}
	if _, metrics := send(t, http.DefaultClient, "GET", site+"/metrics", "", nil); !strings.Contains(metrics, `beam_runs_started_total{photon="invite",surface="mcp"} 1`) {
		t.Errorf("the metrics are %s", metrics)
	}
}

// awaitQuestion returns the id of the only question that is open for a person.
func awaitQuestion(t *testing.T, c *http.Client, site string) string {
	t.Helper()
	for {
		_, body := send(t, c, "GET", site+"/tools/asks", "", map[string]string{"Accept": "application/json"})
		var inbox struct{ Asks []struct{ ID string } }
		if err := json.Unmarshal([]byte(body), &inbox); err != nil {
			t.Fatalf("the inbox is %s", body)
		}
		if len(inbox.Asks) > 0 {
			return inbox.Asks[0].ID
		}
	}
}

// bearer is a transport that sends a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
