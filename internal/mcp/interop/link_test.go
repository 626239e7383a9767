package interop_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/programtest"
)

// askURLPattern matches the address of a question's page.
var askURLPattern = regexp.MustCompile(`http://[^\s]+/asks/([0-9a-f]{32}\.[0-9]+)`)

// Clients without capabilities get links. Their calls end, and they resume them with
// beam_resume. They have listed the tools before, since some validate results against
// the list.
func TestLinks(t *testing.T) {
	t.Setenv("BEAM_ASK_FALLBACK", "link")
	t.Setenv("BEAM_ASK_HANDOFF", "300ms")
	t.Setenv("BEAM_KEEP_ALIVE", "50ms")
	h := startServer(t)
	for _, l := range clientLibraries {
		for _, transport := range []string{"stdio", "http"} {
			for _, version := range protocolVersions {
				t.Run(l.name+"/"+transport+"/"+version, func(t *testing.T) {
					c := &connectedClient{library: l, version: version, console: programtest.NewConsole(), person: &person{}}
					if transport == "http" {
						c.server = h
					}
					c.libraryClient = l.connect(t, c.server, c.console, version, c.person)
					ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
					defer cancel()
					checkLinkedCall(t, ctx, c)
				})
			}
		}
	}
}

func checkLinkedCall(t *testing.T, ctx context.Context, c *connectedClient) {
	if names, err := c.listTools(ctx); err != nil || !slices.Contains(names, "beam_resume") {
		t.Errorf("the tools are %v, %v", names, err)
	}
	told := make(chan string, 100)
	c.person.setOnProgress(func(p progress) { told <- p.Message })
	r, err := c.callTool(ctx, "text", nil, "token")
	if err != nil || r.IsError || !strings.Contains(r.text(), "What is your name?") {
		t.Fatalf("the call ended with %+v, %v", r, err)
	}
	if link := <-told; !askURLPattern.MatchString(link) {
		t.Errorf("got %q, want the address", link)
	}
	if again := <-told; !strings.HasPrefix(again, "Waiting for an answer") || !askURLPattern.MatchString(again) {
		t.Errorf("then got %q, want that it waits", again)
	}
	found := askURLPattern.FindStringSubmatch(r.text())
	if found == nil {
		t.Fatalf("the result names no address: %s", r.text())
	}
	run, _, _ := strings.Cut(found[1], ".")
	resume := func() *toolResult {
		r, err := c.callTool(ctx, "beam_resume", map[string]any{"run": run}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := resume(); r.IsError || !askURLPattern.MatchString(r.text()) {
		t.Errorf("while nobody answers, got %+v", r)
	}
	desk, err := c.openPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := desk.postAnswerForm(found[0], found[1], url.Values{"text": {"Ada"}}); err != nil {
		t.Fatal(err)
	}
	if r := resume(); r.IsError || !equalJSON(string(r.Structured), `{"outcome":"accepted","value":"Ada"}`) {
		t.Errorf("the result is %+v", r)
	}
}

// postAnswerForm posts the form of a question's page.
func (d *pageUser) postAnswerForm(address, id string, form url.Values) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	u.Path, u.RawQuery = "/mcp/request", url.Values{"ask": {id}, "action": {"accept"}}.Encode()
	response, err := d.browser.PostForm(u.String(), form)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("answering on the page: %s", response.Status)
	}
	return nil
}
