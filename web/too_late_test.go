package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A browser without script whose answer is too late shows what was entered, but no secret.
func TestLateAnswersAreShown(t *testing.T) {
	p := newSite(t, "").newSession()
	for _, tt := range []struct {
		kind          string
		late          url.Values
		shown, hidden string
	}{
		{"form", url.Values{"name": {"Ada <Lovelace>"}, "email": {"ada at home"}, "newsletter": {"true"}}, "Ada &lt;Lovelace&gt; ada at home", "Newsletter"},
		{"text", url.Values{"text": {"\nAda"}}, "Ada", ""},
		{"number", url.Values{"number": {"1.5"}}, "1.5", ""},
		{"select", url.Values{"select": {"tcp"}}, "", "wasn’t used"},
		{"secret", url.Values{"secret": {"correct horse"}}, "", "horse"},
	} {
		run := p.startRun("kitchen_sink", `{"ask":"`+tt.kind+`"}`)
		events := p.follow(run.Events, "", isElicitation)
		id := events[len(events)-1].msg.ID
		post := func(action string, form url.Values) string {
			res := p.request("POST", "/mcp/request?ask="+url.QueryEscape(id)+"&action="+action, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
			expectStatus(t, res, http.StatusConflict)
			return textAfter(readText(t, res), `id="main"`)
		}
		expectStatus(t, p.requestJSON("POST", run.URL+"/cancel", ""), http.StatusAccepted)
		page := post("accept", tt.late)
		for _, text := range strings.SplitAfter(tt.shown, "&gt; ") {
			if !strings.Contains(page, strings.TrimSpace(text)) {
				t.Errorf("%s: the page lacks %q: %s", tt.kind, text, page)
			}
		}
		if tt.hidden != "" && strings.Contains(page, tt.hidden) {
			t.Errorf("%s: the page has %q", tt.kind, tt.hidden)
		}
		if strings.Contains(post("decline", nil), "wasn’t used") {
			t.Errorf("%s: what was declined shows what was entered", tt.kind)
		}
	}
}
