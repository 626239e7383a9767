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

// address is where a question is answered, as people are told it.
var address = regexp.MustCompile(`http://[^\s]+/asks/([0-9a-f]{32}\.[0-9]+)`)

// Clients that declare nothing are told where to answer; their calls end, and
// go on with beam_resume. They have seen the list of tools before, since some
// hold results against it.
func TestLinks(t *testing.T) {
	t.Setenv("BEAM_ASK_FALLBACK", "link")
	t.Setenv("BEAM_ASK_HANDOFF", "300ms")
	t.Setenv("BEAM_KEEP_ALIVE", "50ms")
	h := serve(t)
	for _, l := range libraries {
		for _, transport := range []string{"stdio", "http"} {
			for _, version := range versions {
				t.Run(l.name+"/"+transport+"/"+version, func(t *testing.T) {
					c := &connected{library: l, version: version, console: programtest.NewConsole(), person: &person{}}
					if transport == "http" {
						c.host = h
					}
					c.client = l.dial(t, c.host, c.console, version, c.person)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					linkedCall(t, ctx, c)
				})
			}
		}
	}
}

func linkedCall(t *testing.T, ctx context.Context, c *connected) {
	if names, err := c.tools(ctx); err != nil || !slices.Contains(names, "beam_resume") {
		t.Errorf("the tools are %v, %v", names, err)
	}
	told := make(chan string, 100)
	c.person.hear(func(p progress) { told <- p.Message })
	r, err := c.call(ctx, "text", nil, "token")
	if err != nil || r.IsError || !strings.Contains(r.text(), "What is your name?") {
		t.Fatalf("the call ended with %+v, %v", r, err)
	}
	if link := <-told; !address.MatchString(link) {
		t.Errorf("it was told %q, want the address", link)
	}
	if again := <-told; !strings.HasPrefix(again, "Waiting for an answer") || !address.MatchString(again) {
		t.Errorf("then it was told %q, want that it waits", again)
	}
	found := address.FindStringSubmatch(r.text())
	if found == nil {
		t.Fatalf("the result names no address: %s", r.text())
	}
	run, _, _ := strings.Cut(found[1], ".")
	resume := func() *result {
		r, err := c.call(ctx, "beam_resume", map[string]any{"run": run}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := resume(); r.IsError || !address.MatchString(r.text()) {
		t.Errorf("while nobody answers, it says %+v", r)
	}
	desk, err := c.desk(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := desk.fillIn(found[0], found[1], url.Values{"text": {"Ada"}}); err != nil {
		t.Fatal(err)
	}
	if r := resume(); r.IsError || !sameJSON(string(r.Structured), `{"outcome":"accepted","value":"Ada"}`) {
		t.Errorf("the result is %+v", r)
	}
}

// fillIn posts the form of a question's page.
func (d *desk) fillIn(address, id string, form url.Values) error {
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
