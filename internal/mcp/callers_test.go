package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

// startPeopleServer serves MCP over HTTP to the callers that the headers User and Role
// name.
func (b *testServer) startPeopleServer(t testing.TB) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.ServeHTTP(w, r, generators.Caller{ID: r.Header.Get("User"), Roles: r.Header.Values("Role")}, pagesOrigin)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(b.close)
	return s.URL
}

// membersPhoton is for callers with the role member.
var membersPhoton = generators.New("members", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
	return ask.Text(yield, "word", "Which word?")
}, &generators.Options{Allow: func(c generators.Caller) error {
	if !c.HasRole("member") {
		return errors.New("members only")
	}
	return nil
}})

// A person is an MCP client over HTTP with a caller of its own.
type person struct {
	*httpClient
	headers []string
}

func newPerson(t testing.TB, url, version, caps string, headers ...string) *person {
	t.Helper()
	p := &person{&httpClient{t: t, url: url, ctx: t.Context()}, headers}
	r := p.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"v","version":"1"}}}`, version, caps))
	defer r.Body.Close()
	if p.session = r.Header.Get("Mcp-Session-Id"); p.session == "" {
		t.Fatalf("initialize: %s", r.Status)
	}
	return p
}

func (p *person) post(body string) *http.Response {
	p.t.Helper()
	return p.postMessage(body, p.headers...)
}

// request returns the response to a request, which the server may stream.
func (p *person) request(body string) string {
	p.t.Helper()
	r := p.post(body)
	defer r.Body.Close()
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		for next := p.readEvents(r); ; {
			if data := next().data; strings.Contains(data, `"id":1`) && !strings.Contains(data, `"method"`) {
				return data
			}
		}
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(raw)
}

func (p *person) listTools() string {
	p.t.Helper()
	return p.request(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

// TestSessionOfAnotherCaller uses a session id that another caller was given.
func TestSessionOfAnotherCaller(t *testing.T) {
	r := newTestServer(t, wordPhoton)
	url := r.startPeopleServer(t)
	ada := newPerson(t, url, "2025-11-25", `{"elicitation":{}}`, "User", "ada")
	for _, headers := range [][]string{{"User", "bob"}, {"User", "grace", "Role", generators.RoleOperator}, {"User", ""}, {"User", "ADA"}} {
		eve := &person{&httpClient{t: t, url: url, ctx: t.Context(), session: ada.session}, headers}
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			body := ""
			if method == http.MethodPost {
				body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
			}
			response := eve.sendRequest(method, body, headers...)
			response.Body.Close()
			if response.StatusCode != http.StatusNotFound {
				t.Errorf("%v: %s: %s, want 404", headers, method, response.Status)
			}
		}
	}
	if got := ada.listTools(); !strings.Contains(got, `"word"`) {
		t.Errorf("afterwards, the session's own caller gets %s", got)
	}
}

// TestToolsThatACallerMayNotUse lists and calls a tool as its caller's roles change.
func TestToolsThatACallerMayNotUse(t *testing.T) {
	r := newLinkingServer(t, wordPhoton, membersPhoton)
	r.AwaitEffects()
	url := r.startPeopleServer(t)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}%s}}`
	ada := newPerson(t, url, "2025-11-25", `{}`, "User", "ada")
	if got := ada.listTools(); strings.Contains(got, "members") || !strings.Contains(got, `"word"`) || !strings.Contains(got, "beam_resume") {
		t.Errorf("the list is %s", got)
	}
	unknown := strings.ReplaceAll(ada.request(fmt.Sprintf(call, "nothing", "")), "nothing", "members")
	if got := ada.request(fmt.Sprintf(call, "members", "")); got != unknown || jsonMember(t, got, "error", "code") != "-32602" {
		t.Errorf("calling the tool returns %s, and for an unknown one %s", got, unknown)
	}
	if got := ada.request(fmt.Sprintf(call, "members", `,"task":{}`)); got != unknown {
		t.Errorf("calling the tool as a task returns %s", got)
	}
	ada.headers = []string{"User", "ada", "Role", "member"} // in the same session
	if got := ada.listTools(); !strings.Contains(got, "members") {
		t.Errorf("a member's list is %s", got)
	}
	created := ada.request(fmt.Sprintf(call, "members", `,"task":{}`))
	task := jsonMember(t, created, "result", "taskId")
	ada.headers = []string{"User", "ada"}
	if got := ada.listTools(); strings.Contains(got, "members") {
		t.Errorf("the list of a member no more is %s", got)
	}
	if got := ada.request(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":` + task + `}}`); jsonMember(t, got, "result", "status") != `"input_required"` {
		t.Errorf("the member's task is then %s", got)
	}

	// 2026-07-28 has no sessions.
	modern := &person{&httpClient{t: t, url: url, ctx: t.Context()}, []string{"User", "ada", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta(`{}`, "") + `}}`
	if got := modern.request(list); strings.Contains(got, "members") || !strings.Contains(got, `"word"`) {
		t.Errorf("the modern list is %s", got)
	}
	modern.headers = append(modern.headers, "Role", "member")
	if got := modern.request(list); !strings.Contains(got, "members") {
		t.Errorf("a member's modern list is %s", got)
	}
}

// TestRunsOfAnotherCaller passes the tasks, handles and states of a caller to others,
// among them an operator's client.
func TestRunsOfAnotherCaller(t *testing.T) {
	r := newLinkingServer(t, wordPhoton)
	r.AwaitEffects()
	url := r.startPeopleServer(t)
	ada := newPerson(t, url, "2025-11-25", `{}`, "User", "ada")
	created := ada.request(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
	task := jsonMember(t, created, "result", "taskId")
	ask := must(r.engine.Inbox(generators.Caller{ID: "ada"}, 0))[0].ID

	modernHeaders := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "word"}
	modern := &person{&httpClient{t: t, url: url, ctx: t.Context()}, append([]string{"User", "ada"}, modernHeaders...)}
	asked := modern.request(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","arguments":{},` + modernMeta(`{"elicitation":{}}`, "") + `}}`)
	state := jsonMember(t, asked, "result", "requestState")
	if state == "" {
		t.Fatalf("the call returned %s", asked)
	}

	for _, headers := range [][]string{{"User", "bob"}, {"User", "grace", "Role", generators.RoleOperator}} {
		other := newPerson(t, url, "2025-11-25", `{}`, headers...)
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			got := other.request(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"taskId":` + task + `}}`)
			unknown := other.request(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"taskId":"` + strings.Repeat("0", 32) + `"}}`)
			if got != unknown || jsonMember(t, got, "error", "code") != "-32602" {
				t.Errorf("%v: %s returns %s", headers, method, got)
			}
		}
		answer := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":` + task + `,"_meta":{"io.modelcontextprotocol/elicitation-response":{"elicitationId":"` + ask + `","action":"decline"}}}}`
		if got := other.request(answer); jsonMember(t, got, "error", "code") != "-32602" {
			t.Errorf("%v answer: %s", headers, got)
		}
		if got := other.request(`{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`); strings.Contains(got, "taskId") {
			t.Errorf("%v list %s", headers, got)
		}
		got := other.request(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"beam_resume","arguments":{"run":` + task + `}}}`)
		if !strings.Contains(got, "No run has this handle") || strings.Contains(got, "Which word?") {
			t.Errorf("%v resume: %s", headers, got)
		}
		thief := &person{&httpClient{t: t, url: url, ctx: t.Context()}, append(append([]string{}, headers...), modernHeaders...)}
		got = thief.request(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","arguments":{},"requestState":` + state + `,` + modernMeta(`{"elicitation":{}}`, "") + `}}`)
		if jsonMember(t, got, "error", "code") != "-32602" || !strings.Contains(got, "was not made by this server") {
			t.Errorf("%v pass the state: %s", headers, got)
		}
	}
	if got := ada.request(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":` + task + `}}`); jsonMember(t, got, "result", "status") != `"input_required"` {
		t.Errorf("afterwards, the owner's task is %s", got)
	}
}

// TestAdoptedRunEndsItsCall has an operator adopt the run of a call in progress: the
// client is told, and the run goes on.
func TestAdoptedRunEndsItsCall(t *testing.T) {
	grace := generators.Caller{ID: "grace", Roles: []string{generators.RoleOperator}}
	r := newTestServer(t, wordPhoton)
	ada := newPerson(t, r.startPeopleServer(t), "2025-11-25", `{"elicitation":{}}`, "User", "ada")
	response := ada.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
	defer response.Body.Close()
	next := ada.readEvents(response)
	question := next().data
	for question == "" || !strings.Contains(question, "elicitation/create") {
		question = next().data
	}
	run := must(r.engine.Runs(grace, 0, nil))[0].ID
	if err := r.engine.Adopt(t.Context(), grace, run); err != nil {
		t.Fatal(err)
	}
	withdrawn, result := next().data, next().data
	if !strings.Contains(withdrawn, "notifications/cancelled") || !strings.Contains(result, "An operator has adopted this run") || jsonMember(t, result, "result", "isError") != "true" {
		t.Errorf("the client got\n%s\n%s", withdrawn, result)
	}
	late := ada.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, jsonMember(t, question, "id")))
	late.Body.Close()
	ada.sendRequest(http.MethodDelete, "", ada.headers...).Body.Close() // ends the session, which stops its runs
	if info, err := r.engine.Info(grace, run); err != nil || info.State != engine.Waiting {
		t.Errorf("the run is then %+v, %v", info, err)
	}
}

func TestOneCallerLeavesSessionsToOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("10,000 sessions take long under the race detector")
	}
	b := newTestServer(t)
	t.Cleanup(b.close)
	open := func(caller string) int {
		body := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"v","version":"1"}}}`
		r, w := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		b.ServeHTTP(w, r, generators.Caller{ID: caller}, pagesOrigin)
		return w.Code
	}
	n := 0
	for open("mallory") == http.StatusOK {
		n++
	}
	if code := open("ada"); n != 10_000 || code != http.StatusOK {
		t.Errorf("after %d sessions of one caller, another's is refused with %d", n, code)
	}
}
