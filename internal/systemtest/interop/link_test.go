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

	"github.com/photon-beam/beam/internal/systemtest/programtest"
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
	keptAlive := 0
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
					if checkLinkedCall(t, ctx, c) {
						keptAlive++
					}
				})
			}
		}
	}
	if keptAlive == 0 {
		t.Error("no client is told again that its call waits")
	}
}

// checkLinkedCall also reports whether the client was told again that its call waits: on a
// busy machine the hand-off may be due before.
func checkLinkedCall(t *testing.T, ctx context.Context, c *connectedClient) (keptAlive bool) {
	if names, err := c.listTools(ctx); err != nil || !slices.Contains(names, "beam_resume") {
		t.Errorf("the tools are %v, %v", names, err)
	}
	told := make(chan string, 100)
	c.person.setOnProgress(func(p progress) { told <- p.Message })
	r, err := c.callTool(ctx, "text", nil, "token")
	if err != nil || r.IsError || !strings.Contains(r.text(), "What is your name?") {
		t.Fatalf("the call ended with %+v, %v", r, err)
	}
	select {
	case link := <-told:
		if !askURLPattern.MatchString(link) {
			t.Errorf("got %q, want the address", link)
		}
	case <-ctx.Done():
		t.Fatal("the client isn't told the address")
	}
	select {
	case again := <-told:
		if keptAlive = true; !strings.HasPrefix(again, "Waiting for an answer") || !askURLPattern.MatchString(again) {
			t.Errorf("then got %q, want that it waits", again)
		}
	default:
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
	return keptAlive
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
