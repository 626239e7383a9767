package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// newMigrator returns a photon that confirms SQL.
func newMigrator(name, sql string) *generators.Photon {
	return newAskPhoton(name, func(y generators.Yield) (bool, error) {
		return ask.Confirm(y, "go", "Apply?", ask.Verbs("Apply", "Keep"), ask.Destructive(), ask.Showing(generators.Code("001.sql", "sql", sql)))
	})
}

// answerRecord returns the record of the only answer of a run.
func (s *site) answerRecord(run string) runlog.Answered {
	s.t.Helper()
	batches, err := s.engine.Read(s.t.Context(), generators.Caller{ID: "operator", Roles: []string{generators.RoleOperator}}, run, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range batch {
			if e.Kind == runlog.KindAnswered {
				a, err := runlog.Decode[runlog.Answered](e)
				if err != nil {
					s.t.Fatal(err)
				}
				return a
			}
		}
	}
	s.t.Fatal("there is no answer")
	panic("unreachable")
}

// The page shows the evidence beside the question, and serves it.
func TestPageShowsEvidence(t *testing.T) {
	s := newSite(t, "", newMigrator("migrate", "DROP TABLE a;"))
	p := s.newSession()
	run, q := p.startAndReadRequest("migrate", "elicitation/create")
	for _, path := range []string{"/asks/" + q.ID, "/runs/" + run.ID, "/asks"} {
		if page := readText(t, p.request("GET", path, "", "Accept", "text/html")); !strings.Contains(page, "001.sql") || !strings.Contains(page, "/asks/"+q.ID+"/evidence/0") {
			t.Errorf("%s doesn't show the evidence: %s", path, page)
		}
	}
	if got := readText(t, p.request("GET", "/asks/"+q.ID+"/evidence/0", "")); got != "DROP TABLE a;" {
		t.Errorf("the evidence is %q", got)
	}
	inbox := readText(t, p.request("GET", "/asks", "", "Accept", "application/json"))
	if !strings.Contains(inbox, `"evidence":[{"title":"001.sql","mediaType":"text/x-sql","size":13}]`) {
		t.Errorf("the list of questions is %s", inbox)
	}
	if one := readText(t, p.request("GET", "/asks/"+q.ID, "", "Accept", "application/json")); !strings.Contains(one, `"body":"RFJPUCBUQUJMRSBhOw=="`) {
		t.Errorf("the question is %s", one)
	}
	for _, n := range []string{"1", "-1", "x"} {
		expectStatus(t, p.request("GET", "/asks/"+q.ID+"/evidence/"+n, ""), http.StatusNotFound)
	}
	expectStatus(t, p.request("GET", "/asks/"+run.ID+".1/evidence/0", ""), http.StatusNotFound)
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=accept", "go=true", "Content-Type", "application/x-www-form-urlencoded"), http.StatusAccepted)
	if got := p.runResult(run); got != true {
		t.Errorf("the run got %v", got)
	}
	if a := s.answerRecord(run.ID); a.Evidence != runlog.RenderedFull {
		t.Errorf("the answer's record is %+v", a)
	}
	if got := readText(t, p.request("GET", "/asks/"+q.ID+"/evidence/0", "")); got != "DROP TABLE a;" {
		t.Errorf("after the answer, the evidence is %q", got)
	}
}

// Over HTTP, too, what can't be undone and doesn't fit is confirmed on the page.
func TestLargeEvidenceNeedsThePage(t *testing.T) {
	s := newSite(t, "", newMigrator("migrate", "DROP TABLE a;"), newMigrator("large", strings.Repeat("DROP TABLE a;\n", 500)))
	p := s.newSession()
	_, q := p.startAndReadRequest("large", "elicitation/create")
	if q.Params["mode"] != "url" || q.Params["url"] != p.URL+"/asks/"+q.ID {
		t.Errorf("the request is %+v", q.Params)
	}
	expectStatus(t, p.answerRPC(q.ID, map[string]any{"action": "accept"}), http.StatusAccepted)
	expectStatus(t, p.answerRPC(q.ID, acceptResult(`{"go":"yes"}`)), http.StatusUnprocessableEntity)
	run, q := p.startAndReadRequest("migrate", "elicitation/create")
	expectStatus(t, p.answerRPC(q.ID, acceptResult(`{"go":"yes"}`)), http.StatusAccepted)
	if got := p.runResult(run); got != true {
		t.Errorf("the run got %v", got)
	}
	if a := s.answerRecord(run.ID); a.Evidence != runlog.RenderedFull || a.Surface != "http" {
		t.Errorf("the answer's record is %+v", a)
	}
}
