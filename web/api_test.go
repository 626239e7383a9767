package web_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestStartFollowAnswerResumeResult(t *testing.T) {
	p := newSite(t, "").person()
	run := p.start("wizard", "{}")

	first := p.follow(run.Events, "", asks)
	q := first[len(first)-1]
	if q.msg.ID == "" || !strings.HasPrefix(q.msg.ID, run.ID+".") || q.msg.Params["mode"] != "form" {
		t.Fatalf("the question is %+v", q)
	}
	status(t, p.answer(q.msg.ID, accept(`{"name":"Ada"}`)), http.StatusAccepted)

	second := p.follow(run.Events, q.id, asks)
	q2 := second[len(second)-1]
	if second[0].msg.Method != "notifications/cancelled" || second[0].msg.Params["requestId"] != q.msg.ID {
		t.Errorf("after the answer came %+v", second[0])
	}
	status(t, p.answer(q2.msg.ID, accept(`{"email":"ada@example.org","role":"admin"}`)), http.StatusAccepted)

	third := p.follow(run.Events, q2.id, asks)
	q3 := third[len(third)-1]
	status(t, p.answer(q3.msg.ID, accept(`{"confirm":true}`)), http.StatusAccepted)

	rest := p.follow(run.Events, q3.id, nil)
	last := rest[len(rest)-1].msg
	structured, _ := last.Result["structuredContent"].(map[string]any)
	if last.ID != run.ID || structured["name"] != "Ada" || structured["reservation"] == nil {
		t.Errorf("the result is %+v", last)
	}

	// From the start, the stream tells it all again, settled questions too.
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
	// There is nothing more, and a reader is told not to come back.
	status(t, p.do("GET", run.Events, "", "Last-Event-ID", again[len(again)-1].id), http.StatusNoContent)
}

func TestResumeFromEveryEventMissesAndRepeatsNothing(t *testing.T) {
	p := newSite(t, "").person()
	run := p.start("kitchen-sink", `{"ask":"text"}`)
	told := p.follow(run.Events, "", asks)
	status(t, p.answer(told[len(told)-1].msg.ID, accept(`{"text":"hello"}`)), http.StatusAccepted)
	all := p.follow(run.Events, "", nil)
	for i, e := range all[:len(all)-1] {
		rest := p.follow(run.Events, e.id, nil)
		if len(rest) != len(all)-i-1 || rest[0].id != all[i+1].id {
			t.Fatalf("after %s came %d messages, want %d", e.id, len(rest), len(all)-i-1)
		}
	}
	byQuery := p.follow(run.Events+"?after="+all[2].id, "", nil)
	if len(byQuery) != len(all)-3 {
		t.Errorf("?after= gave %d messages, want %d", len(byQuery), len(all)-3)
	}
}

func TestMethodsOfTheStreamAreMCPs(t *testing.T) {
	p := newSite(t, "").person()
	run := p.start("kitchen-sink", `{"ask":"secret"}`)
	told := p.follow(run.Events, "", asks)
	methods := map[string]int{}
	for _, e := range told {
		methods[e.msg.Method]++
	}
	for _, want := range []string{"notifications/progress", "notifications/message", "elicitation/create"} {
		if methods[want] == 0 {
			t.Errorf("no %s among %v", want, methods)
		}
	}
	q := told[len(told)-1].msg
	if q.Params["mode"] != "url" || q.Params["url"] != p.URL+"/asks/"+q.ID || q.Params["requestedSchema"] != nil {
		t.Errorf("a secret is asked by %+v", q.Params)
	}
	// To accept the address is consent, not the answer.
	status(t, p.answer(q.ID, map[string]any{"action": "accept"}), http.StatusAccepted)
	status(t, p.json("GET", "/asks/"+q.ID, ""), http.StatusOK)
	const secret = "hunter2hunter2"
	status(t, p.do("POST", "/mcp/request?ask="+q.ID+"&action=accept", "secret="+secret, "Content-Type", "application/x-www-form-urlencoded"), http.StatusAccepted)
	for _, e := range p.follow(run.Events, "", nil) {
		if raw := e.msg; strings.Contains(strings.ToLower(string(must(raw))), secret) {
			t.Errorf("message %s has the secret: %+v", e.id, raw)
		}
	}
	page := text(t, p.do("GET", run.URL, "", "Accept", "text/html"))
	if strings.Contains(page, secret) {
		t.Error("the page has the secret")
	}
}

func TestRefusals(t *testing.T) {
	s := newSite(t, "")
	p, stranger := s.person(), s.person()
	run := p.start("kitchen-sink", `{"ask":"text"}`)
	told := p.follow(run.Events, "", asks)
	id := told[len(told)-1].msg.ID
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	response := func(id, rest string) string { return `{"jsonrpc":"2.0","id":"` + id + `",` + rest + `}` }
	yes := `"result":{"action":"accept","content":{"text":"hello"}}`
	tests := []struct {
		name string
		res  *http.Response
		want int
	}{
		{"unknown photon", p.json("POST", "/photons/nobody/runs", "{}"), 404},
		{"arguments that don't fit", p.json("POST", "/photons/book_dinner/runs", `{"date":"soon"}`), 422},
		{"arguments that are no JSON", p.json("POST", "/photons/wizard/runs", `{`), 400},
		{"arguments as text", p.do("POST", "/photons/wizard/runs", "{}", "Content-Type", "text/plain"), 415},
		{"arguments without a type", p.do("POST", "/photons/wizard/runs", "{}"), 415},
		{"huge arguments", p.json("POST", "/photons/wizard/runs", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`), 413},
		{"unknown run", p.json("GET", "/runs/ffff", ""), 404},
		{"unknown run's events", p.do("GET", "/runs/ffff/events", ""), 404},
		{"bad resume", p.do("GET", run.Events, "", "Last-Event-ID", "x"), 400},
		{"unknown artifact", p.do("GET", run.URL+"/artifacts/1", ""), 404},
		{"unknown page", p.json("GET", "/nowhere", ""), 404},
		{"another method", p.json("PUT", "/runs", ""), 405},
		{"another method on a post", p.json("GET", "/mcp/request", ""), 405},

		{"a stranger reads", stranger.json("GET", run.URL, ""), 403},
		{"a stranger follows", stranger.do("GET", run.Events, ""), 403},
		{"a stranger stops", stranger.do("POST", run.URL+"/cancel", ""), 403},
		{"a stranger sees the question", stranger.json("GET", "/asks/"+id, ""), 403},
		{"a stranger answers", stranger.json("POST", "/mcp/request", response(id, yes)), 403},
		{"a stranger posts the form", stranger.do("POST", "/mcp/request?ask="+id+"&action=accept", "text=hello", form...), 403},

		{"no JSON", p.json("POST", "/mcp/request", `nonsense`), 400},
		{"a batch", p.json("POST", "/mcp/request", `[]`), 400},
		{"another version", p.json("POST", "/mcp/request", `{"jsonrpc":"1.0","id":"`+id+`",`+yes+`}`), 400},
		{"no id", p.json("POST", "/mcp/request", `{"jsonrpc":"2.0",`+yes+`}`), 400},
		{"a number for an id", p.json("POST", "/mcp/request", `{"jsonrpc":"2.0","id":1,`+yes+`}`), 400},
		{"a request", p.json("POST", "/mcp/request", response(id, `"method":"ping"`)), 400},
		{"result and error", p.json("POST", "/mcp/request", response(id, yes+`,"error":{"code":1,"message":"x"}`)), 400},
		{"neither", p.json("POST", "/mcp/request", response(id, `"x":1`)), 400},
		{"unknown ask", p.json("POST", "/mcp/request", response("ffff.3", yes)), 404},
		{"text/plain", p.do("POST", "/mcp/request", response(id, yes), "Content-Type", "text/plain"), 415},
		{"too large", p.json("POST", "/mcp/request", response(id, `"x":"`+strings.Repeat("x", 2<<20)+`"`)), 413},
		{"unknown action", p.json("POST", "/mcp/request", response(id, `"result":{"action":"maybe"}`)), 422},
		{"too short", p.json("POST", "/mcp/request", response(id, `"result":{"action":"accept","content":{"text":"x"}}`)), 422},
		{"form too short", p.do("POST", "/mcp/request?ask="+id+"&action=accept", "text=x", form...), 422},
		{"a broken multipart form", p.do("POST", "/mcp/request?ask="+id+"&action=accept", "no parts", "Content-Type", "multipart/form-data; boundary=x"), 400},
		{"a huge form", p.do("POST", "/mcp/request?ask="+id+"&action=accept", "text="+strings.Repeat("x", 2<<20), form...), 413},
		{"form of nothing", p.do("POST", "/mcp/request", "text=hello", form...), 404},

		{"accepted", p.json("POST", "/mcp/request", response(id, yes)), 202},
		{"again", p.json("POST", "/mcp/request", response(id, yes)), 409},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { status(t, tt.res, tt.want) })
	}
}

func TestRefusalsSayWhatWouldBeRight(t *testing.T) {
	p := newSite(t, "").person()
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
	bad := decode[body](t, p.json("POST", "/photons/book_dinner/runs", `{"date":"soon"}`))
	if len(bad.Error.Fields) != 2 || bad.Error.Fields[0].Path != "/date" || !strings.Contains(bad.Error.Fields[0].Message, "2026-12-31") {
		t.Errorf("arguments: %+v", bad)
	}
	run := p.start("kitchen-sink", `{"ask":"integer"}`)
	told := p.follow(run.Events, "", asks)
	id := told[len(told)-1].msg.ID
	wrong := decode[body](t, p.answer(id, accept(`{"integer":21}`)))
	if wrong.ID != id || wrong.Error.Code != -32602 || wrong.Error.Data.Fields[0].Message != "must be at most 20" {
		t.Errorf("an answer: %+v", wrong)
	}
}

func TestErrorResponseCancels(t *testing.T) {
	p := newSite(t, "").person()
	run := p.start("kitchen-sink", `{"ask":"text"}`)
	told := p.follow(run.Events, "", asks)
	status(t, p.json("POST", "/mcp/request", `{"jsonrpc":"2.0","id":"`+told[len(told)-1].msg.ID+`","error":{"code":-1,"message":"no"}}`), 202)
	all := p.follow(run.Events, "", nil)
	result := all[len(all)-1].msg.Result["structuredContent"].(map[string]any)
	if result["action"] != "cancel" {
		t.Errorf("result = %v", result)
	}
}

func TestIdempotencyKey(t *testing.T) {
	p := newSite(t, "").person()
	a := decode[started](t, p.json("POST", "/photons/wizard/runs", "{}", "Idempotency-Key", "k"))
	b := decode[started](t, p.json("POST", "/photons/wizard/runs", "{}", "Idempotency-Key", "k"))
	if a.ID != b.ID {
		t.Errorf("two runs: %s and %s", a.ID, b.ID)
	}
	status(t, p.json("POST", "/photons/github_user/runs", "{}", "Idempotency-Key", "k"), 422)
}

func TestStop(t *testing.T) {
	p := newSite(t, "").person()
	run := p.start("wizard", "{}")
	p.follow(run.Events, "", asks)
	status(t, p.do("POST", run.URL+"/cancel", ""), http.StatusAccepted)
	all := p.follow(run.Events, "", nil)
	last := all[len(all)-1].msg
	if last.Result["isError"] != true || all[len(all)-2].msg.Method != "notifications/cancelled" {
		t.Errorf("the end is %+v", last)
	}
}

func TestLists(t *testing.T) {
	p := newSite(t, "").person()
	photons := decode[struct {
		Photons []struct{ Name, Title string }
	}](t, p.json("GET", "/", ""))
	if len(photons.Photons) < 6 {
		t.Errorf("photons: %+v", photons)
	}
	empty := text(t, p.json("GET", "/asks", ""))
	if !strings.Contains(empty, `"asks":[]`) {
		t.Errorf("an empty inbox is %s", empty)
	}
	run := p.start("wizard", "{}")
	p.follow(run.Events, "", asks)
	inbox := decode[struct{ Asks []struct{ ID, Run string } }](t, p.json("GET", "/asks", ""))
	runs := decode[struct{ Runs []struct{ ID, State string } }](t, p.json("GET", "/runs", ""))
	if len(inbox.Asks) != 1 || inbox.Asks[0].Run != run.ID || len(runs.Runs) != 1 || runs.Runs[0].State != "waiting" {
		t.Errorf("inbox %+v, runs %+v", inbox, runs)
	}
}
