package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAdoptARun(t *testing.T) {
	s := newSite(t, "")
	browser, other, operator := s.newSession(), s.newSession(), s.newSession()
	run, askID := browser.startWaiting()
	operator.signIn()
	for _, p := range []*browserSession{browser, other} {
		expectStatus(t, p.requestJSON("POST", run.URL+"/adopt", ""), http.StatusForbidden)
	}
	expectStatus(t, operator.request("POST", run.URL+"/adopt", "", "Origin", "https://evil.example"), http.StatusForbidden)
	expectStatus(t, operator.requestJSON("POST", "/runs/00/adopt", ""), http.StatusNotFound)
	stream := browser.request("GET", run.Events, "")

	res := operator.requestJSON("POST", run.URL+"/adopt", "")
	if got := decodeJSON[runJSON](t, res); res.StatusCode != http.StatusOK || got.Owner != "operator" || got.State != "waiting" {
		t.Errorf("%s, %+v", res.Status, got)
	}
	if to := operator.request("POST", run.URL+"/adopt", "", "Accept", "text/html").Header.Get("Location"); to != run.URL {
		t.Errorf("the button leads to %q", to)
	}
	if rest := readText(t, stream); strings.Contains(rest, "adopted") || strings.Contains(rest, `"result"`) {
		t.Errorf("the former owner's stream ends with %s", rest)
	}
	for _, path := range []string{run.URL, run.Events, "/asks/" + askID} {
		expectStatus(t, browser.requestJSON("GET", path, ""), http.StatusForbidden)
	}
	if page := readText(t, browser.request("GET", run.Events, "", "Datastar-Request", "true")); !strings.Contains(page, "belongs to someone else") || strings.Contains(page, run.ID) {
		t.Errorf("the former owner's open page becomes %s", page)
	}
	expectStatus(t, browser.answerRPC(askID, acceptResult(`{"name":"Eve"}`)), http.StatusForbidden)
	expectStatus(t, browser.request("POST", "/mcp/request?ask="+askID+"&action=decline", "", "Content-Type", "application/x-www-form-urlencoded"), http.StatusForbidden)
	expectStatus(t, browser.request("POST", run.URL+"/cancel", ""), http.StatusForbidden)
	if runs := browser.listRuns(); len(runs) != 0 {
		t.Errorf("the former owner's runs are %+v", runs)
	}
	page := readText(t, operator.request("GET", run.URL, "", "Accept", "text/html"))
	if !strings.Contains(page, "adopted by operator") || strings.Contains(page, run.URL+"/adopt") {
		t.Error("the page doesn't say that the run was adopted, or offers it again")
	}
	expectStatus(t, operator.answerRPC(askID, acceptResult(`{"name":"Grace"}`)), http.StatusAccepted)
	expectStatus(t, operator.request("POST", run.URL+"/cancel", ""), http.StatusAccepted)
	ended := browser.startRun("wizard", "{}")
	expectStatus(t, browser.request("POST", ended.URL+"/cancel", ""), http.StatusAccepted)
	expectStatus(t, operator.requestJSON("POST", ended.URL+"/adopt", ""), http.StatusConflict)
}
