package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestHTTPSessions(t *testing.T) {
	h := startServer(t)
	for _, version := range []string{"2025-03-26", version20250618, version20251125} {
		v := newHTTPClient(t, h, version)
		const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		v.expectStatus(v.postMessage(ping, nil), http.StatusOK)
		v.expectStatus(v.postMessage(ping, map[string]string{"Mcp-Session-Id": ""}), http.StatusBadRequest)
		v.expectStatus(v.postMessage(ping, map[string]string{"Mcp-Session-Id": "unknown"}), http.StatusNotFound)
		v.expectStatus(v.postMessage(ping, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}), http.StatusBadRequest)
		v.expectStatus(v.postMessage(ping, map[string]string{"Content-Type": "text/plain"}), http.StatusUnsupportedMediaType)
		v.expectStatus(v.postMessage(ping, map[string]string{"Accept": "text/html"}), http.StatusNotAcceptable)
		v.expectStatus(v.postMessage(ping, map[string]string{"Origin": "https://evil.example"}), http.StatusForbidden)
		v.expectStatus(v.postMessage("garbage", nil), http.StatusBadRequest)
		v.expectStatus(v.postMessage("", nil), http.StatusBadRequest)
		v.expectStatus(v.sendRequest(v.ctx, http.MethodPut, ping, nil), http.StatusMethodNotAllowed)
		v.expectStatus(v.sendRequest(v.ctx, http.MethodGet, "", map[string]string{"Mcp-Session-Id": ""}), http.StatusBadRequest)
		v.expectStatus(v.sendRequest(v.ctx, http.MethodGet, "", map[string]string{"Last-Event-ID": "nonsense"}), http.StatusBadRequest)
		listening, stop := context.WithCancel(v.ctx)
		if r := v.sendRequest(listening, http.MethodGet, "", nil); r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("GET: %s", r.Status)
		}
		stop()
		batch := v.postMessage("["+callLine("1", "string", "{}")+","+callLine("2", "string", "{}")+"]", nil)
		if want := map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[version == "2025-03-26"]; batch.StatusCode != want {
			t.Errorf("a batch in %s: %s", version, batch.Status)
		}
		v.expectStatus(v.sendRequest(v.ctx, http.MethodDelete, "", nil), http.StatusNoContent)
		v.expectStatus(v.postMessage(ping, nil), http.StatusNotFound)
		v.expectStatus(v.sendRequest(v.ctx, http.MethodDelete, "", nil), http.StatusNotFound)
	}
}

// DELETE cancels the requests of the session.
func TestHTTPDelete(t *testing.T) {
	h := startServer(t)
	v := newHTTPClient(t, h, version20251125)
	s := v.readEvents(v.postMessage(callLine("1", "slow_ask", `{"name":"deleted"}`), nil))
	id := s.nextMessageWithID().ID
	v.expectStatus(v.sendRequest(v.ctx, http.MethodDelete, "", nil), http.StatusNoContent)
	v.expectStatus(v.postMessage(answerLine(id, "x"), nil), http.StatusNotFound)
	v = newHTTPClient(t, h, version20251125)
	v.expectStatus(v.postMessage(callLine("1", "await", `{"name":"deleted"}`), nil), http.StatusOK)
}

// The connection breaks while a question is open. A client that resumes is asked with
// the same request again, and its answer counts once.
func TestHTTPResume(t *testing.T) {
	h := startServer(t)
	for _, version := range []string{version20250618, version20251125} {
		v := newHTTPClient(t, h, version)
		cut, pull := context.WithCancel(v.ctx)
		s := v.readEvents(v.sendRequest(cut, http.MethodPost, callLine("1", "rounds", `{}`), nil))
		first := s.nextMessage()
		pull()
		if first.Method != "elicitation/create" {
			t.Fatalf("got %s", first.line)
		}
		run, _, _ := strings.Cut(s.lastEventID, ".")
		again := v.readEvents(v.sendRequest(v.ctx, http.MethodGet, "", map[string]string{"Last-Event-ID": run + ".0"}))
		if m := again.nextMessageWithID(); string(m.ID) != string(first.ID) || m.Params.Message != first.Params.Message {
			t.Errorf("resuming, it was asked %s, want %s", m.line, first.line)
		}
		v.expectStatus(v.postMessage(answerLine(first.ID, "Ada"), nil), http.StatusAccepted)
		v.expectStatus(v.postMessage(answerLine(first.ID, "Eve"), nil), http.StatusAccepted) // a late answer is ignored
		second := again.nextMessageWithID()
		if second.Params.Message != "How many, Ada?\n\nThis question is lost if Beam restarts." {
			t.Fatalf("the second question is %s", second.line)
		}
		v.expectStatus(v.postMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"integer":7}}}`, second.ID), nil), http.StatusAccepted)
		if m := again.nextMessageWithID(); string(m.ID) != "1" || !bytes.Contains(m.Result, []byte(`"Ada 7"`)) {
			t.Errorf("the result is %s", m.line)
		}
	}
}

// A roundTripResult is a request of 2026-07-28 and its outcome.
type roundTripResult struct {
	Type     string                     `json:"resultType"`
	State    string                     `json:"requestState"`
	Requests map[string]json.RawMessage `json:"inputRequests"`
	toolResult
}

func (v *httpClient) callRoundTrip(tool, arguments, state, responses string) (roundTripResult, int) {
	v.t.Helper()
	more := ""
	if state != "" {
		more = fmt.Sprintf(`,"requestState":%q,"inputResponses":%s`, state, responses)
	}
	body := v.expectStatus(v.postMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
		tool, arguments, more), map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": tool}), http.StatusOK)
	var m struct {
		Result roundTripResult `json:"result"`
		Error  struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if _, data, ok := strings.Cut(body, "data: "); ok { // a stream with one message
		body = data
	}
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&m); err != nil {
		v.t.Fatalf("%v: %s", err, body)
	}
	return m.Result, m.Error.Code
}

// A lost response loses no answer and uses none twice.
func TestHTTPRetry(t *testing.T) {
	h := startServer(t)
	v := newHTTPClient(t, h, version20260728)
	const args, yes, why = `{"name":"spent"}`, `{"confirm":{"action":"accept","content":{"confirm":true}}}`, `{"text":{"action":"accept","content":{"text":"tea"}}}`
	one, _ := v.callRoundTrip("spend", args, "", "")
	if one.Type != "input_required" || one.Requests["confirm"] == nil {
		t.Fatalf("the first round is %+v", one)
	}
	same, _ := v.callRoundTrip("spend", args, one.State, `{}`) // a question without an answer is asked again
	if same.Type != "input_required" || same.Requests["confirm"] == nil {
		t.Errorf("without an answer: %+v", same)
	}
	two, _ := v.callRoundTrip("spend", args, one.State, yes)
	lost, _ := v.callRoundTrip("spend", ` { "name" : "spent" } `, one.State, `{"confirm":{"action":"decline"}}`)
	for _, r := range []roundTripResult{two, lost} {
		if r.Type != "input_required" || r.Requests["text"] == nil || r.Requests["confirm"] != nil {
			t.Fatalf("the second round is %+v", r)
		}
	}
	if n, _ := v.callRoundTrip("count", args, "", ""); n.text() != "1" {
		t.Errorf("it was spent %s times", n.text())
	}
	for _, state := range []string{lost.State, two.State, one.State} {
		r, _ := v.callRoundTrip("spend", args, state, why)
		if r.Type != "complete" || !equalJSON(string(r.Structured), `{"outcome":"accepted","value":"tea"}`) {
			t.Errorf("the result is %+v", r)
		}
	}
}

func TestHTTPStates(t *testing.T) {
	h := startServer(t)
	v := newHTTPClient(t, h, version20260728)
	one, _ := v.callRoundTrip("spend", `{"name":"x"}`, "", "")
	bad := func(what, tool, arguments, state string) {
		t.Helper()
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"requestState":%q,"inputResponses":{},"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, tool, arguments, state)
		if said := v.expectStatus(v.postMessage(body, nil), http.StatusBadRequest); !strings.Contains(said, "-32602") {
			t.Errorf("%s: %s", what, said)
		}
	}
	middle := len(one.State) / 2
	changed := []byte(one.State)
	changed[middle] ^= 1
	bad("a changed one", "spend", `{"name":"x"}`, string(changed))
	bad("a short one", "spend", `{"name":"x"}`, one.State[:middle])
	bad("none at all", "spend", `{"name":"x"}`, "nonsense")
	bad("another tool's", "slow_ask", `{"name":"x"}`, one.State)
	bad("other arguments'", "spend", `{"name":"y"}`, one.State)
	bad("another server's", "spend", `{"name":"x"}`, func() string {
		r, _ := newHTTPClient(t, startServer(t), version20260728).callRoundTrip("spend", `{"name":"x"}`, "", "")
		return r.State
	}())
	if r, _ := v.callRoundTrip("spend", `{"name":"x"}`, one.State, `{"confirm":{"action":"decline"}}`); r.Type != "complete" {
		t.Errorf("the right one: %+v", r)
	}
}

// A client of 2026-07-28 that closes the stream cancels a call that nobody could
// resume.
func TestHTTPModernDisconnect(t *testing.T) {
	h := startServer(t)
	v := newHTTPClient(t, h, version20260728)
	body := func(tool string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"name":"gone"},"_meta":{"progressToken":1,`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool)
	}
	cut, pull := context.WithCancel(v.ctx)
	s := v.readEvents(v.sendRequest(cut, http.MethodPost, body("slow"), nil))
	s.nextMessage()
	pull()
	v.expectStatus(v.postMessage(body("await"), nil), http.StatusOK)
}
