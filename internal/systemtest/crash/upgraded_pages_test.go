package crash

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// get returns what the program responds to a request.
func (c *client) get(ctx context.Context, path string, header ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := c.doRetrying(ctx, "GET", path, "", header...)
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(raw)
}

// patchesUntil returns what an open page of a run is sent after an entry, until that has a text.
func (c *client) patchesUntil(ctx context.Context, run, after, text string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := c.doRetrying(ctx, "GET", "/runs/"+run+"/events", "", "Datastar-Request", "true", "Last-Event-ID", after)
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	var got strings.Builder
	for b := make([]byte, 4096); !strings.Contains(got.String(), text); {
		n, err := r.Body.Read(b)
		if got.Write(b[:n]); err != nil {
			c.t.Errorf("the page isn't sent %q but %s", text, got.String())
			break
		}
	}
	return got.String()
}

func (c *client) check(what, got string, wants, wrongs []string) {
	c.t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			c.t.Errorf("%s lacks %q: %s", what, want, got)
		}
	}
	for _, wrong := range wrongs {
		if strings.Contains(got, wrong) {
			c.t.Errorf("%s has %q: %s", what, wrong, got)
		}
	}
}

// Pages, lists and streams show the question of a run that doesn't fit the new program, and why
// nobody can answer it; with a program that fits, they ask it again.
func TestPagesOfUpgradedProgram(t *testing.T) {
	ctx := t.Context()
	p := &program{t: t, bin: buildVersion(t, "first"), data: filepath.Join(t.TempDir(), "data")}
	p.start()
	t.Cleanup(func() { p.kill() })
	c := newClient(t, p)
	id := c.start(ctx, "deploy", `{"env":"prod1"}`)
	asked := c.awaitState(ctx, id, func(s runState) bool { return len(s.Asks) == 1 }).Asks[0].ID
	_, seq, _ := strings.Cut(asked, ".")
	const accept, reason = "action=accept", "Nobody can answer this now, because its run is parked: "
	why := []string{reason, `it now makes the call &#34;review&#34;`, "Put the old version of the program back, deploy one that fits, or stop or fork the run."}
	html := []string{"Accept", "text/html"}
	c.check("the page", c.get(ctx, "/runs/"+id, html...), []string{accept}, []string{reason})

	p.kill()
	p.bin = buildVersion(t, "wrong")
	p.start()
	c.check("the list of questions", c.get(ctx, "/asks", html...), append(why, "/runs/"+id), []string{accept, ">Answer<"})
	c.check("the list of runs", c.get(ctx, "/runs", html...), []string{"parked", "Parked: "}, nil)
	c.check("the page", c.get(ctx, "/runs/"+id, html...), append(why, "Who approves prod1?", "/runs/"+id+"/cancel"), []string{accept, "action=decline", "action=cancel"})
	c.check("the question's page", c.get(ctx, "/asks/"+asked, html...), append(why, "&amp;parked"), []string{accept})
	c.check("the open page", c.patchesUntil(ctx, id, seq, reason), why[:1], []string{accept})
	c.check("the run's JSON", c.get(ctx, "/runs/"+id, "Accept", "application/json"), []string{`"state":"parked"`, `"reason":"changed"`, `"excluded":true`}, nil)
	c.check("the JSON of questions", c.get(ctx, "/asks", "Accept", "application/json"), []string{`"parked":{"reason":"changed"`}, nil)
	const form = "application/x-www-form-urlencoded"
	for _, answer := range []struct {
		path, body string
		header     []string
		status     int
	}{
		{"/mcp/request", `{"jsonrpc":"2.0","id":"` + asked + `","result":{"action":"accept","content":{"approve":"ada"}}}`, nil, http.StatusConflict},
		{"/mcp/request?ask=" + asked + "&action=accept", "approve=ada", []string{"Content-Type", form, "Accept", "text/html"}, http.StatusConflict},
		{"/mcp/request?ask=" + asked + "&action=accept", "approve=ada", []string{"Content-Type", form, "Datastar-Request", "true"}, http.StatusOK},
	} {
		r, err := c.doRetrying(ctx, "POST", answer.path, answer.body, answer.header...)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(r.Body)
		r.Body.Close()
		c.check("the response", string(raw), []string{"his run is parked", "Put the old version"}, nil)
		if r.StatusCode != answer.status {
			t.Errorf("%v: the status is %s", answer.header, r.Status)
		}
	}
	parked := strconv.Itoa(c.readState(ctx, id).Last)

	p.kill()
	p.bin = buildVersion(t, "second")
	p.start()
	c.check("the open page", c.patchesUntil(ctx, id, parked, accept), []string{accept}, []string{reason})
	c.check("the page", c.get(ctx, "/runs/"+id, html...), []string{accept}, []string{reason})
	c.check("the list of questions", c.get(ctx, "/asks", html...), []string{">Answer<"}, []string{reason})
	for n := range 2 {
		c.answerSome(ctx, []string{id}, 0, 1)
		c.awaitState(ctx, id, func(s runState) bool { return s.State == []string{"waiting", "completed"}[n] })
	}
}
