package web_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
)

// The page renders a result in Markdown as a document, once; programs get its text.
func TestPageRendersMarkdownResult(t *testing.T) {
	report := generators.New("report", func(context.Context, struct{}, generators.Yield) (generators.MarkdownText, error) {
		return "All is *well*.<b>", nil
	}, nil)
	s := newSite(t, "", report)
	p := s.newSession()
	run := p.startRun("report", "{}")
	all := p.follow(run.Events, "", nil)
	result, _ := json.Marshal(all[len(all)-1].msg.Result)
	if want := `{"content":[{"text":"All is *well*.\u003cb\u003e","type":"text"}],"structuredContent":{"result":"All is *well*.\u003cb\u003e"}}`; !strings.HasSuffix(string(result), want[1:]) {
		t.Errorf("the result is %s", result)
	}
	page := readText(t, p.request("GET", "/runs/"+run.ID, "", "Accept", "text/html"))
	if strings.Count(page, "<em>well</em>") != 1 || strings.Contains(page, "*well*") || strings.Contains(page, "well</em>.<b>") {
		t.Errorf("the page is %s", page)
	}
}
