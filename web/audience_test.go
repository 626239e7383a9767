package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/web"
)

// A question for others is on the pages of those who may answer it, whoever owns the run,
// with what they need to decide and nothing else; its owner sees who is to answer.
func TestQuestionForOthers(t *testing.T) {
	approve := generators.New("approve", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Deploy it?", ask.From(ask.Role("ops")), ask.NotCaller(), ask.Showing(generators.Code("Plan", "", "the plan")))
	}, nil)
	e, photons := newCallerEngine(t, approve)
	s := newCallerSite(t, e, photons, web.Config{Identify: people})
	p := s.newSession()
	ada, bob, cleo, grace := []string{"User", "ada"}, []string{"User", "bob", "Role", "ops"}, []string{"User", "cleo"}, []string{"User", "grace"}
	page := func(path string, who []string) string {
		t.Helper()
		res := p.request("GET", path, "", append([]string{"Accept", "text/html"}, who...)...)
		expectStatus(t, res, http.StatusOK)
		return readText(t, res)
	}

	res := p.requestJSON("POST", "/photons/approve/runs", "{}", ada...)
	expectStatus(t, res, http.StatusCreated)
	run := decodeJSON[startedRun](t, res)
	for range e.Watch(t.Context(), generators.Caller{ID: "bob", Roles: []string{"ops"}}) {
		if must(e.CountOpenAsks(generators.Caller{ID: "bob", Roles: []string{"ops"}})) > 0 {
			break
		}
	}
	inbox := page("/asks", bob)
	askID := must(e.Inbox(generators.Caller{ID: "bob", Roles: []string{"ops"}}, 0))[0].ID
	for _, want := range []string{"Deploy it?", "the plan", `href="/asks/` + askID + `"`, "for you", "for ADA"} {
		if !strings.Contains(inbox, want) {
			t.Errorf("the inbox lacks %q", want)
		}
	}
	if strings.Contains(inbox, "/runs/"+run.ID) {
		t.Error("the inbox links to a run that its reader can't use")
	}
	for _, who := range [][]string{ada, cleo, grace} {
		if strings.Contains(page("/asks", who), "Deploy it?") {
			t.Errorf("the inbox of %v has the question", who)
		}
	}
	for _, path := range []string{run.URL, "/asks/" + askID} {
		for _, who := range [][]string{ada, grace} {
			got := page(path, who)
			if !strings.Contains(got, "Only a person with the role ops, but not the person who started the run can answer this.") || strings.Contains(got, "action=accept") || strings.Contains(got, "action=decline") {
				t.Errorf("%s for %v offers to answer, or doesn't say who may", path, who)
			}
			if path == run.URL && (!strings.Contains(got, "waiting for an answer from a person with the role ops") || strings.Contains(got, ">Answer<")) {
				t.Errorf("the timeline for %v offers to answer, or doesn't say who may", who)
			}
		}
	}
	expectStatus(t, p.request("GET", "/asks/"+askID, "", append(cleo, "Accept", "text/html")...), http.StatusForbidden)
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	for _, who := range [][]string{ada, grace, cleo} {
		for _, action := range []string{"accept", "decline", "cancel"} {
			expectStatus(t, p.request("POST", "/mcp/request?ask="+askID+"&action="+action, "go=true", append(form, who...)...), http.StatusForbidden)
		}
		res := p.request("POST", "/mcp/request", `{"jsonrpc":"2.0","id":"`+askID+`","result":{"action":"accept","content":{"go":"yes"}}}`, append([]string{"Content-Type", "application/json"}, who...)...)
		expectStatus(t, res, http.StatusForbidden)
	}
	if got := page("/asks/"+askID, bob); !strings.Contains(got, "the plan") || !strings.Contains(got, "action=accept") || strings.Contains(got, "/runs/"+run.ID) {
		t.Error("the question's page doesn't show the plan and the form, or links to the run")
	}
	answered := p.request("POST", "/mcp/request?ask="+askID+"&action=accept", "go=true", append(form, bob...)...)
	expectStatus(t, answered, http.StatusSeeOther)
	if to := answered.Header.Get("Location"); to != "/asks" {
		t.Errorf("after the answer, the browser is sent to %s", to)
	}
	if got := page("/asks/"+askID, bob); !strings.Contains(got, "Deploy it?") || !strings.Contains(got, "Yes") || strings.Contains(got, "/runs/"+run.ID) {
		t.Errorf("the page of the answered question doesn't show the answer, or links to the run: %s", got)
	}
	expectStatus(t, p.request("GET", run.URL, "", append(bob, "Accept", "text/html")...), http.StatusForbidden)
}

// The page of a run whose question nobody may answer any more says so, also if it is open
// already, as do the inbox and the question's own page; and so do they when somebody may
// again.
func TestPageOfAnUnanswerableQuestion(t *testing.T) {
	approve := generators.New("approve", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Deploy it?", ask.From(ask.Role("ops")))
	}, nil)
	var anybody atomic.Bool
	anybody.Store(true)
	e, photons := newEngineWith(t, func(o *engine.Options) {
		o.People = func(func(generators.Caller) bool) bool { return anybody.Load() }
	}, approve)
	s := newCallerSite(t, e, photons, web.Config{Identify: people, Streams: budget.New(budget.Streams, budget.Limit{Each: 4, All: 4})})
	p, ada := s.newSession(), []string{"User", "ada", "Accept", "text/html"}
	run := decodeJSON[startedRun](t, p.requestJSON("POST", "/photons/approve/runs", "{}", ada[:2]...))
	res := p.request("GET", run.Events, "", ada[:2]...)
	if _, err := readEvents(t, res.Body, func(e event) bool { return e.msg.Method == "notifications/message" || isElicitation(e) }); err != nil {
		t.Fatal(err)
	}
	info, err := e.Info(generators.Caller{ID: "ada"}, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"run": run.Events, "inbox": "/updates?page=asks", "question": "/updates?page=ask&ask=" + info.Asks[0].ID}
	update := func(name string) *http.Response {
		last := fmt.Sprint(info.LastSeq)
		if name != "run" {
			last = "1"
		}
		res := p.request("GET", paths[name], "", append(ada[:2:2], "Datastar-Request", "true", "Last-Event-ID", last)...)
		expectStatus(t, res, http.StatusOK)
		return res
	}
	pages := map[string]*bufio.Scanner{} // that are open all the time
	for name := range paths {
		res := update(name)
		defer time.AfterFunc(programtest.WaitTimeout, func() { res.Body.Close() }).Stop()
		pages[name] = bufio.NewScanner(res.Body)
		pages[name].Buffer(nil, 4<<20)
	}
	const nobody = "Nobody can answer this: it is for a person with the role ops"
	somebody := map[string]string{"run": "Only a person with the role ops can answer this", "question": "Only a person with the role ops can answer this", "inbox": "No questions are waiting for you"}
	for _, is := range []bool{true, false, true} {
		anybody.Store(is)
		e.PeopleChanged()
		if told := strings.Contains(readText(t, p.request("GET", run.URL, "", ada...)), nobody); told == is {
			t.Errorf("there is somebody: %t, but the page says that nobody can answer: %t", is, told)
		}
		for name, lines := range pages {
			want := somebody[name]
			if !is {
				want = nobody
			}
			if !readLineWith(lines, want) {
				t.Errorf("the open page %s isn't told %q", name, want)
			}
			if polled := readText(t, update(name)); !strings.Contains(polled, "_reconnecting") || !strings.Contains(polled, want) {
				t.Errorf("a page %s that polls isn't told %q: %s", name, want, polled)
			}
		}
	}
}
