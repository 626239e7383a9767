package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestStartFollowAnswerResumeResult(t *testing.T) {
	p := newSite(t, "").newSession()
	run := p.startRun("wizard", "{}")

	first := p.follow(run.Events, "", isElicitation)
	q := first[len(first)-1]
	if q.msg.ID == "" || !strings.HasPrefix(q.msg.ID, run.ID+".") || q.msg.Params["mode"] != "form" {
		t.Fatalf("the question is %+v", q)
	}
	expectStatus(t, p.answerRPC(q.msg.ID, acceptResult(`{"name":"Ada"}`)), http.StatusAccepted)

	second := p.follow(run.Events, q.id, isElicitation)
	q2 := second[len(second)-1]
	if second[0].msg.Method != "notifications/cancelled" || second[0].msg.Params["requestId"] != q.msg.ID {
		t.Errorf("after the answer, got %+v", second[0])
	}
	expectStatus(t, p.answerRPC(q2.msg.ID, acceptResult(`{"email":"ada@example.org","role":"admin"}`)), http.StatusAccepted)

	third := p.follow(run.Events, q2.id, isElicitation)
	q3 := third[len(third)-1]
	expectStatus(t, p.answerRPC(q3.msg.ID, acceptResult(`{"confirm":true}`)), http.StatusAccepted)

	rest := p.follow(run.Events, q3.id, nil)
	last := rest[len(rest)-1].msg
	structured, _ := last.Result["structuredContent"].(map[string]any)
	if last.ID != run.ID || structured["name"] != "Ada" || structured["reservation"] == nil {
		t.Errorf("the result is %+v", last)
	}

	// From the start, the stream repeats everything, including closed questions.
	again := p.follow(run.Events, "", nil)
	seen := slices.Concat(first, second, third, rest)
	if len(again) != len(seen) {
		t.Fatalf("again %d messages, want %d", len(again), len(seen))
	}
	lastID := 0
	for i, e := range again {
		id, err := strconv.Atoi(e.id)
		if err != nil || id <= lastID || e.id != seen[i].id || e.msg.Version != "2.0" {
			t.Errorf("message %d has id %q after %d, was %q", i, e.id, lastID, seen[i].id)
		}
		lastID = id
	}
	// There is nothing more, and the client is told not to reconnect.
	expectStatus(t, p.request("GET", run.Events, "", "Last-Event-ID", again[len(again)-1].id), http.StatusNoContent)
}

func TestResumeFromEveryEventMissesAndRepeatsNothing(t *testing.T) {
	p := newSite(t, "").newSession()
	run := p.startRun("kitchen_sink", `{"ask":"text"}`)
	received := p.follow(run.Events, "", isElicitation)
	expectStatus(t, p.answerRPC(received[len(received)-1].msg.ID, acceptResult(`{"text":"hello"}`)), http.StatusAccepted)
	all := p.follow(run.Events, "", nil)
	for i, e := range all[:len(all)-1] {
		rest := p.follow(run.Events, e.id, nil)
		if len(rest) != len(all)-i-1 || rest[0].id != all[i+1].id {
			t.Fatalf("after %s, got %d messages, want %d", e.id, len(rest), len(all)-i-1)
		}
	}
	byQuery := p.follow(run.Events+"?after="+all[2].id, "", nil)
	if len(byQuery) != len(all)-3 {
		t.Errorf("?after= gave %d messages, want %d", len(byQuery), len(all)-3)
	}
}

func TestMethodsOfTheStreamAreMCPs(t *testing.T) {
	p := newSite(t, "").newSession()
	run := p.startRun("kitchen_sink", `{"ask":"secret"}`)
	received := p.follow(run.Events, "", isElicitation)
	methods := map[string]int{}
	for _, e := range received {
		methods[e.msg.Method]++
	}
	for _, want := range []string{"notifications/progress", "notifications/message", "elicitation/create"} {
		if methods[want] == 0 {
			t.Errorf("no %s among %v", want, methods)
		}
	}
	q := received[len(received)-1].msg
	if q.Params["mode"] != "url" || q.Params["url"] != p.URL+"/asks/"+q.ID || q.Params["requestedSchema"] != nil {
		t.Errorf("a secret is asked by %+v", q.Params)
	}
	// Accepting the URL is consent, not an answer.
	expectStatus(t, p.answerRPC(q.ID, map[string]any{"action": "accept"}), http.StatusAccepted)
	expectStatus(t, p.requestJSON("GET", "/asks/"+q.ID, ""), http.StatusOK)
	const secret = "hunter2hunter2"
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=accept", "secret="+secret, "Content-Type", "application/x-www-form-urlencoded"), http.StatusAccepted)
	for _, e := range p.follow(run.Events, "", nil) {
		if raw := e.msg; strings.Contains(strings.ToLower(string(mustMarshal(raw))), secret) {
			t.Errorf("message %s has the secret: %+v", e.id, raw)
		}
	}
	page := readText(t, p.request("GET", run.URL, "", "Accept", "text/html"))
	if strings.Contains(page, secret) {
		t.Error("the page has the secret")
	}
}

func TestRefusals(t *testing.T) {
	s := newSite(t, "")
	p, stranger := s.newSession(), s.newSession()
	run := p.startRun("kitchen_sink", `{"ask":"text"}`)
	received := p.follow(run.Events, "", isElicitation)
	id := received[len(received)-1].msg.ID
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	response := func(id, rest string) string { return `{"jsonrpc":"2.0","id":"` + id + `",` + rest + `}` }
	yes := `"result":{"action":"accept","content":{"text":"hello"}}`
	tests := []struct {
		name string
		res  *http.Response
		want int
	}{
		{"unknown photon", p.requestJSON("POST", "/photons/nobody/runs", "{}"), 404},
		{"arguments that don't fit", p.requestJSON("POST", "/photons/book_dinner/runs", `{"date":"soon"}`), 422},
		{"arguments that are no JSON", p.requestJSON("POST", "/photons/wizard/runs", `{`), 400},
		{"arguments as text", p.request("POST", "/photons/wizard/runs", "{}", "Content-Type", "text/plain"), 415},
		{"arguments without a type", p.request("POST", "/photons/wizard/runs", "{}"), 415},
		{"huge arguments", p.requestJSON("POST", "/photons/wizard/runs", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`), 413},
		{"unknown run", p.requestJSON("GET", "/runs/ffff", ""), 404},
		{"unknown run's events", p.request("GET", "/runs/ffff/events", ""), 404},
		{"bad resume", p.request("GET", run.Events, "", "Last-Event-ID", "x"), 400},
		{"unknown artifact", p.request("GET", run.URL+"/artifacts/1", ""), 404},
		{"unknown page", p.requestJSON("GET", "/nowhere", ""), 404},
		{"another method", p.requestJSON("PUT", "/runs", ""), 405},
		{"another method on a post", p.requestJSON("GET", "/mcp/request", ""), 405},

		{"a stranger reads", stranger.requestJSON("GET", run.URL, ""), 403},
		{"a stranger follows", stranger.request("GET", run.Events, ""), 403},
		{"a stranger stops", stranger.request("POST", run.URL+"/cancel", ""), 403},
		{"a stranger sees the question", stranger.requestJSON("GET", "/asks/"+id, ""), 403},
		{"a stranger answers", stranger.requestJSON("POST", "/mcp/request", response(id, yes)), 403},
		{"a stranger posts the form", stranger.request("POST", "/mcp/request?ask="+id+"&action=accept", "text=hello", form...), 403},

		{"no JSON", p.requestJSON("POST", "/mcp/request", `nonsense`), 400},
		{"a batch", p.requestJSON("POST", "/mcp/request", `[]`), 400},
		{"another version", p.requestJSON("POST", "/mcp/request", `{"jsonrpc":"1.0","id":"`+id+`",`+yes+`}`), 400},
		{"no id", p.requestJSON("POST", "/mcp/request", `{"jsonrpc":"2.0",`+yes+`}`), 400},
		{"a number for an id", p.requestJSON("POST", "/mcp/request", `{"jsonrpc":"2.0","id":1,`+yes+`}`), 400},
		{"a request", p.requestJSON("POST", "/mcp/request", response(id, `"method":"ping"`)), 400},
		{"result and error", p.requestJSON("POST", "/mcp/request", response(id, yes+`,"error":{"code":1,"message":"x"}`)), 400},
		{"neither", p.requestJSON("POST", "/mcp/request", response(id, `"x":1`)), 400},
		{"unknown ask", p.requestJSON("POST", "/mcp/request", response("ffff.3", yes)), 404},
		{"text/plain", p.request("POST", "/mcp/request", response(id, yes), "Content-Type", "text/plain"), 415},
		{"too large", p.requestJSON("POST", "/mcp/request", response(id, `"x":"`+strings.Repeat("x", 2<<20)+`"`)), 413},
		{"unknown action", p.requestJSON("POST", "/mcp/request", response(id, `"result":{"action":"maybe"}`)), 422},
		{"too short", p.requestJSON("POST", "/mcp/request", response(id, `"result":{"action":"accept","content":{"text":"x"}}`)), 422},
		{"form too short", p.request("POST", "/mcp/request?ask="+id+"&action=accept", "text=x", form...), 422},
		{"a broken multipart form", p.request("POST", "/mcp/request?ask="+id+"&action=accept", "no parts", "Content-Type", "multipart/form-data; boundary=x"), 400},
		{"a huge form", p.request("POST", "/mcp/request?ask="+id+"&action=accept", "text="+strings.Repeat("x", 2<<20), form...), 413},
		{"form of nothing", p.request("POST", "/mcp/request", "text=hello", form...), 404},

		{"accepted", p.requestJSON("POST", "/mcp/request", response(id, yes)), 202},
		{"again", p.requestJSON("POST", "/mcp/request", response(id, yes)), 409},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expectStatus(t, tt.res, tt.want) })
	}
}

func TestRefusalsSayWhatWouldBeRight(t *testing.T) {
	p := newSite(t, "").newSession()
	type body struct {
		Error struct {
			Message string
			Fields  []struct{ Path, Message string }
			Code    int
			Data    struct {
				Fields []struct{ Path, Message string }
			}
		}
		ID string
	}
	bad := decodeJSON[body](t, p.requestJSON("POST", "/photons/book_dinner/runs", `{"date":"soon"}`))
	if len(bad.Error.Fields) != 2 || bad.Error.Fields[0].Path != "/date" || !strings.Contains(bad.Error.Fields[0].Message, "2026-12-31") {
		t.Errorf("arguments: %+v", bad)
	}
	run := p.startRun("kitchen_sink", `{"ask":"integer"}`)
	received := p.follow(run.Events, "", isElicitation)
	id := received[len(received)-1].msg.ID
	wrong := decodeJSON[body](t, p.answerRPC(id, acceptResult(`{"integer":21}`)))
	if wrong.ID != id || wrong.Error.Code != -32602 || wrong.Error.Data.Fields[0].Message != "must be at most 20" {
		t.Errorf("an answer: %+v", wrong)
	}
}

func TestErrorResponseCancels(t *testing.T) {
	p := newSite(t, "").newSession()
	run := p.startRun("kitchen_sink", `{"ask":"text"}`)
	received := p.follow(run.Events, "", isElicitation)
	expectStatus(t, p.requestJSON("POST", "/mcp/request", `{"jsonrpc":"2.0","id":"`+received[len(received)-1].msg.ID+`","error":{"code":-1,"message":"no"}}`), 202)
	all := p.follow(run.Events, "", nil)
	result := all[len(all)-1].msg.Result["structuredContent"].(map[string]any)
	if result["action"] != "cancel" {
		t.Errorf("result = %v", result)
	}
}

func TestIdempotencyKey(t *testing.T) {
	p := newSite(t, "").newSession()
	a := decodeJSON[startedRun](t, p.requestJSON("POST", "/photons/wizard/runs", "{}", "Idempotency-Key", "k"))
	b := decodeJSON[startedRun](t, p.requestJSON("POST", "/photons/wizard/runs", "{}", "Idempotency-Key", "k"))
	if a.ID != b.ID {
		t.Errorf("two runs: %s and %s", a.ID, b.ID)
	}
	expectStatus(t, p.requestJSON("POST", "/photons/github_user/runs", "{}", "Idempotency-Key", "k"), 422)
}

// Whoever stops a run, its result says where.
func TestStop(t *testing.T) {
	p := newSite(t, "").newSession()
	for _, tt := range []struct {
		where, header, value string
		status               int
	}{
		{"over HTTP", "Accept", "application/json", http.StatusAccepted},
		{"on Beam's page", "Datastar-Request", "true", http.StatusAccepted},
		{"on Beam's page", "Accept", "text/html", http.StatusSeeOther}, // a page without script
	} {
		run := p.startRun("wizard", "{}")
		p.follow(run.Events, "", isElicitation)
		expectStatus(t, p.request("POST", run.URL+"/cancel", "", tt.header, tt.value), tt.status)
		all := p.follow(run.Events, "", nil)
		last := all[len(all)-1].msg
		if last.Result["isError"] != true || all[len(all)-2].msg.Method != "notifications/cancelled" {
			t.Errorf("the end is %+v", last)
		}
		if said := fmt.Sprint(last.Result["content"]); !strings.Contains(said, "The user stopped the run "+tt.where+".") {
			t.Errorf("with %s: %s, the result says %s, want %s", tt.header, tt.value, said, tt.where)
		}
	}
}

func TestLists(t *testing.T) {
	p := newSite(t, "").newSession()
	photons := decodeJSON[struct {
		Photons []struct{ Name, Title string }
	}](t, p.requestJSON("GET", "/", ""))
	if len(photons.Photons) < 6 {
		t.Errorf("photons: %+v", photons)
	}
	empty := readText(t, p.requestJSON("GET", "/asks", ""))
	if !strings.Contains(empty, `"asks":[]`) {
		t.Errorf("an empty inbox is %s", empty)
	}
	run := p.startRun("wizard", "{}")
	p.follow(run.Events, "", isElicitation)
	inbox := decodeJSON[struct{ Asks []struct{ ID, Run string } }](t, p.requestJSON("GET", "/asks", ""))
	runs := decodeJSON[struct{ Runs []struct{ ID, State string } }](t, p.requestJSON("GET", "/runs", ""))
	if len(inbox.Asks) != 1 || inbox.Asks[0].Run != run.ID || len(runs.Runs) != 1 || runs.Runs[0].State != "waiting" {
		t.Errorf("inbox %+v, runs %+v", inbox, runs)
	}
}

// A declined run has its state and reason in JSON, and the lists of states have it where
// it belongs.
func TestUnansweredRunAsJSON(t *testing.T) {
	p := newSite(t, "").newSession()
	run := p.startRun("wizard", "{}")
	asked := p.follow(run.Events, "", isElicitation)
	expectStatus(t, p.answerRPC(asked[len(asked)-1].msg.ID, map[string]any{"action": "decline"}), http.StatusAccepted)
	p.follow(run.Events, "", func(e event) bool { return e.msg.Result != nil })

	type info struct{ ID, State, Reason, Error string }
	want := info{run.ID, "unanswered", "declined", `"What is your name?" was declined.`}
	if got := decodeJSON[info](t, p.requestJSON("GET", run.URL, "")); got != want {
		t.Errorf("the run is %+v, not %+v", got, want)
	}
	for state, listed := range map[string]bool{"": true, "unanswered": true, "failed": false, "stopped": false} {
		got := decodeJSON[struct{ Runs []info }](t, p.requestJSON("GET", "/runs?state="+state, ""))
		if slices.Contains(got.Runs, want) != listed {
			t.Errorf("the runs in state %q are %+v", state, got.Runs)
		}
	}
}
