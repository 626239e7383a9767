package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/photon-beam/beam/web"
)

// TestPhishing checks the attack that MCP describes for URL mode (Elicitation, Phishing):
// somebody starts a run that asks for a secret, a file or consent, and sends the address of
// the question to somebody else, who would answer it. Operators can use all runs, and are
// the most likely victims.
func TestPhishing(t *testing.T) {
	e, photons := newCallerEngine(t)
	s := newCallerSite(t, e, photons, web.Config{Identify: people})
	ada, bob, grace := []string{"User", "ada"}, []string{"User", "bob"}, []string{"User", "grace"} // Grace is an operator
	for _, kind := range []string{"secret", "file", "url"} {
		p := s.newSession()
		res := p.requestJSON("POST", "/photons/kitchen_sink/runs", `{"ask":"`+kind+`"}`, ada...)
		expectStatus(t, res, http.StatusCreated)
		run := decodeJSON[startedRun](t, res)
		res = p.request("GET", run.Events, "", ada...)
		events, err := readEvents(t, res.Body, isElicitation)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		id := events[len(events)-1].msg.ID
		answer := func(who []string) *http.Response {
			body, contentType := "secret=hunter2", "application/x-www-form-urlencoded"
			if kind == "file" {
				body, contentType = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x--\r\n", "multipart/form-data; boundary=x"
			}
			return p.request("POST", "/mcp/request?ask="+url.QueryEscape(id)+"&action=accept", body, append(who, "Content-Type", contentType, "Accept", "application/json")...)
		}
		for name, who := range map[string][]string{"another person": bob, "an operator": grace} {
			res := p.request("GET", "/asks/"+id, "", append(who, "Accept", "text/html")...)
			if page := readText(t, res); res.StatusCode != http.StatusForbidden || !strings.Contains(page, "This question was put to somebody else") || strings.Contains(page, "<form method=\"post\" action=\"/mcp/request") {
				t.Errorf("%s: %s opens the page: %s", kind, name, res.Status)
			}
			expectStatus(t, answer(who), http.StatusForbidden)
			if kind != "file" { // which JSON can't have
				expectStatus(t, p.requestJSON("POST", "/mcp/request", `{"jsonrpc":"2.0","id":"`+id+`","result":{"action":"accept","content":{"secret":"hunter2"}}}`, who...), http.StatusForbidden)
			}
		}
		res = p.request("GET", run.URL, "", append(grace, "Accept", "text/html")...)
		if page := readText(t, res); res.StatusCode != http.StatusOK || !strings.Contains(page, "Only ADA can answer this.") || strings.Contains(page, "action=accept") {
			t.Errorf("%s: the run's page for an operator: %s", kind, res.Status)
		}
		expectStatus(t, p.request("GET", "/asks/"+id, "", append(ada, "Accept", "text/html")...), http.StatusOK)
		if kind == "secret" { // an operator who takes over the run answers for it
			expectStatus(t, p.request("POST", run.URL+"/cancel", "", bob...), http.StatusForbidden)
			expectStatus(t, p.request("POST", run.URL+"/adopt", "", append(grace, "Accept", "application/json")...), http.StatusOK)
			expectStatus(t, answer(ada), http.StatusForbidden)
			expectStatus(t, p.request("GET", "/asks/"+id, "", append(grace, "Accept", "text/html")...), http.StatusOK)
			if page := readText(t, p.request("GET", run.URL, "", append(grace, "Accept", "text/html")...)); strings.Contains(page, "Only ADA") {
				t.Error("the run's page still says that its former owner answers")
			}
			expectStatus(t, answer(grace), http.StatusAccepted)
			continue
		}
		expectStatus(t, answer(ada), http.StatusAccepted)
	}
}
