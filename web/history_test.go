package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// labelled takes a text, and fails if it is "bad".
var labelled = generators.New("labelled", func(_ context.Context, in struct {
	Label string `json:"label,omitempty"`
}, yield generators.Yield) (string, error) {
	if in.Label == "bad" {
		return "", fmt.Errorf("no luck with %s", in.Label)
	}
	return in.Label, nil
}, &generators.Options{Title: "Labelled run"})

// many emits a number of statuses.
var many = generators.New("many", func(_ context.Context, in struct {
	Count int `json:"count"`
}, yield generators.Yield) (string, error) {
	for i := range in.Count {
		yield(generators.Statusf("status %d.", i+1))
	}
	return "done", nil
}, nil)

// startAndEnd starts a run and waits for its end.
func (p *browserSession) startAndEnd(photon, args string) startedRun {
	p.t.Helper()
	run := p.startRun(photon, args)
	readText(p.t, p.request("GET", run.Events, ""))
	return run
}

// waitForAsk waits until the run has asked its nth question, and returns the question's id.
func (p *browserSession) waitForAsk(run startedRun, n int) string {
	p.t.Helper()
	events := p.follow(run.Events, "", func(e event) bool {
		if isElicitation(e) {
			n--
		}
		return n == 0
	})
	return events[len(events)-1].msg.ID
}

// answerForm posts the form of a question.
func (p *browserSession) answerForm(id, field, value string) {
	p.t.Helper()
	expectStatus(p.t, p.postForm("/mcp/request?ask="+id+"&action=accept", url.Values{field: {value}}), http.StatusSeeOther)
}

// uploadFile answers a question for a file.
func (p *browserSession) uploadFile(id, name, content string) {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		p.t.Fatal(err)
	}
	part.Write([]byte(content))
	form.Close()
	expectStatus(p.t, p.request("POST", "/mcp/request?ask="+id+"&action=accept", body.String(), "Content-Type", form.FormDataContentType()), http.StatusAccepted)
}

// The rows that a run's page no longer shows are on pages of their own, to the first.
func TestRowsArePagedToTheBeginning(t *testing.T) {
	p := newSite(t, "", many).newSession()
	run := p.startAndEnd("many", `{"count":1700}`)
	html := p.page(run.URL)
	before := regexp.MustCompile(`href="([^"]*\?before=\d+)"`)
	seen := map[string]bool{}
	statuses := regexp.MustCompile(`status \d+\.`)
	for range 10 {
		for _, s := range statuses.FindAllString(html, -1) {
			seen[s] = true
		}
		m := before.FindStringSubmatch(html)
		if m == nil {
			break
		}
		html = p.page(m[1])
	}
	if len(seen) != 1700 || !seen["status 1."] {
		t.Errorf("%d statuses are on the pages", len(seen))
	}
	first := p.page(run.URL + "?after=0")
	if !strings.Contains(first, "status 1.") || strings.Contains(first, "status 600.") || !strings.Contains(first, "?after=") {
		t.Error("the first page has other rows")
	}
	if res := p.request("GET", run.URL+"?before=x", "", "Accept", "text/html"); res.StatusCode != http.StatusBadRequest {
		t.Error(res.Status)
	}
}

func TestDeleteRun(t *testing.T) {
	question := generators.New("question", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Really?")
	}, nil)
	s := newSite(t, "", question, labelled)
	p := s.newSession()
	run := p.startAndEnd("labelled", `{"label":"old"}`)
	if !strings.Contains(p.page(run.URL), run.URL+"/delete") {
		t.Error("the page doesn't offer to delete the run")
	}
	if html := p.page(run.URL + "/delete"); !strings.Contains(html, "Delete this run?") || !strings.Contains(html, `action="`+run.URL+`/delete"`) {
		t.Error("no question whether to delete it")
	}
	if res := s.newSession().request("POST", run.URL+"/delete", ""); res.StatusCode != http.StatusForbidden {
		t.Error("another session:", res.Status)
	}
	if res := p.request("POST", run.URL+"/delete", "", "Accept", "text/html"); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/runs" {
		t.Error(res.Status)
	}
	if res := p.requestJSON("GET", run.URL, ""); res.StatusCode != http.StatusNotFound {
		t.Error(res.Status)
	}
	open := p.startRun("question", "")
	p.waitForAsk(open, 1)
	if res := p.requestJSON("POST", open.URL+"/delete", ""); res.StatusCode != http.StatusConflict || !strings.Contains(readText(t, res), "stop it first") {
		t.Error(res.Status)
	}
}

// An exported run is one file: it has the rows that the page drops, and the content of its
// artifacts, and loads nothing.
func TestExportRun(t *testing.T) {
	mixed := generators.New("mixed", func(_ context.Context, in struct{}, yield generators.Yield) (string, error) {
		for i := range 600 {
			yield(generators.Statusf("status %d.", i+1))
		}
		yield(generators.File("a.txt", "text/plain", []byte("the content")))
		yield(generators.File("b.png", "image/png", []byte("\x89PNG")))
		secret, err := ask.Secret(yield, "password", "Password?")
		return fmt.Sprint(len(secret)), err
	}, nil)
	p := newSite(t, "", mixed).newSession()
	run := p.startRun("mixed", "{}")
	p.answerForm(p.waitForAsk(run, 1), "password", "hunter22")
	readText(t, p.request("GET", run.Events, ""))

	res := p.request("GET", run.URL+"/export?format=html", "")
	html := readText(t, res)
	for _, want := range []string{"status 1.", "status 600.", "data:application/octet-stream;base64,dGhlIGNvbnRlbnQ=", `src="data:image/png;base64,`, "<style>", "Password?"} {
		if !strings.Contains(html, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
	if m := regexp.MustCompile(`(?:href|src|action)="(/|http)[^"]*"|<script|data-on|data-init`).FindString(html); m != "" {
		t.Errorf("the document has %s", m)
	}
	if d := res.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment; filename=mixed-") || !strings.HasSuffix(d, ".html") {
		t.Error(d)
	}
	if strings.Contains(html, "hunter22") {
		t.Error("the secret is in the document")
	}

	raw := readText(t, p.request("GET", run.URL+"/export?format=json", ""))
	var export struct {
		Run     struct{ ID string }
		Entries []struct{ Kind runlog.Kind }
	}
	if err := json.Unmarshal([]byte(raw), &export); err != nil {
		t.Fatal(err)
	}
	if export.Run.ID != run.ID || len(export.Entries) < 600 || export.Entries[len(export.Entries)-1].Kind != runlog.KindFinished || strings.Contains(raw, "hunter22") {
		t.Errorf("%d entries", len(export.Entries))
	}
	if res := p.requestJSON("GET", run.URL+"/export?format=pdf", ""); res.StatusCode != http.StatusBadRequest {
		t.Error(res.Status)
	}
}

// message is a message of a run as JSON.
type wireMessage struct {
	Direction, Kind, Method, ID, Outcome, By string
	Seq, Size, DurationMs                    int
	Message                                  json.RawMessage
}

func TestMessages(t *testing.T) {
	talk := generators.New("talk", func(_ context.Context, in struct{}, yield generators.Yield) (string, error) {
		yield(generators.Statusf("thinking"))
		if _, err := ask.Confirm(yield, "go", "Really?"); err != nil {
			return "", err
		}
		secret, err := ask.Secret(yield, "password", "Password?")
		return fmt.Sprint(len(secret)), err
	}, nil)
	p := newSite(t, "", talk).newSession()
	run := p.startRun("talk", "{}")
	p.answerForm(p.waitForAsk(run, 1), "go", "true")
	p.answerForm(p.waitForAsk(run, 2), "password", "hunter22")
	readText(t, p.request("GET", run.Events, ""))

	page := decodeJSON[struct{ Messages []wireMessage }](t, p.requestJSON("GET", run.URL+"/messages", ""))
	var told []string
	for _, m := range page.Messages {
		told = append(told, strings.TrimSpace(strings.Join([]string{m.Direction, m.Kind, m.Method, m.Outcome}, " ")))
		if m.Size != len(m.Message) || strings.Contains(string(m.Message), "hunter22") {
			t.Errorf("%s", m.Message)
		}
	}
	want := "in request tools/call\nout notification notifications/progress\nout request elicitation/create\nin response elicitation/create accept\n" +
		"out request elicitation/create\nin response elicitation/create accept\nout response tools/call completed"
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
	if m := page.Messages; m[2].ID != m[3].ID || m[0].ID != run.ID || m[6].ID != run.ID || m[3].By != "browser" {
		t.Error("the responses aren't those to the requests")
	}
	for query, want := range map[string]int{"direction=in": 3, "method=tools/call": 2, "q=thinking": 1, "q=THINKING": 1, "q=nothing": 0, "limit=2": 2, "after=2&limit=1": 1} {
		got := decodeJSON[struct{ Messages []wireMessage }](t, p.requestJSON("GET", run.URL+"/messages?"+query, "")).Messages
		if len(got) != want {
			t.Errorf("%q: %d messages, want %d", query, len(got), want)
		}
		if html := p.page(run.URL + "/messages?" + query); strings.Count(html, `<details class="message`) != want {
			t.Errorf("%q: the page hasn't %d messages", query, want)
		}
	}
	lines := bufio.NewScanner(p.request("GET", run.URL+"/messages?format=jsonl&direction=out", "").Body)
	count := 0
	for ; lines.Scan(); count++ {
		var m wireMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.Direction != "out" {
			t.Errorf("%v in %s", err, lines.Bytes())
		}
	}
	if count != 4 {
		t.Errorf("%d lines", count)
	}
	one := readText(t, p.request("GET", fmt.Sprintf("%s/messages/%d", run.URL, page.Messages[2].Seq), ""))
	if strings.TrimSpace(one) != string(page.Messages[2].Message) {
		t.Errorf("got %s", one)
	}
	for _, bad := range []string{"?method=nothing", "?direction=up", "?before=x", "?format=xml"} {
		if res := p.requestJSON("GET", run.URL+"/messages"+bad, ""); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", bad, res.Status)
		}
	}
	if res := p.requestJSON("GET", run.URL+"/messages/999", ""); res.StatusCode != http.StatusNotFound {
		t.Error(res.Status)
	}
}

// A question is answered in the inbox itself, without script.
func TestAnswerInTheInbox(t *testing.T) {
	question := generators.New("question", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Really?")
	}, nil)
	p := newSite(t, "", question).newSession()
	run := p.startRun("question", "")
	id := p.waitForAsk(run, 1)
	if !strings.Contains(p.page("/asks"), `href="/asks?open=`+id+`#ask-`) {
		t.Error("the inbox doesn't offer to answer here")
	}
	if page := p.page("/asks?open=" + id); !strings.Contains(page, `action="/mcp/request?ask=`+id+`&amp;action=accept"`) {
		t.Error("the inbox lacks the form")
	}
	p.answerForm(id, "go", "true")
	if page := p.page("/asks?open=" + id); !strings.Contains(page, "No questions are waiting for you.") {
		t.Error("the inbox still has the question")
	}
}
