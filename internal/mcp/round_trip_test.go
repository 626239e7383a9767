package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// retryWithState retries a call with the state of an earlier result.
func (w *stdioClient) retryWithState(id int, tool, result, responses string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"requestState":%s,"inputResponses":%s,%s}}`,
		id, tool, jsonMember(w.t, result, "result", "requestState"), responses, modernMeta(`{"elicitation":{}}`, ""))
}

func (w *stdioClient) callModern(id int, tool, caps string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,%s}}`, id, tool, modernMeta(caps, ""))
}

const serverMeta = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"beam","version":"test"}}`

func TestConcurrentQuestionsShareOneRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, twoQuestions).connectStdio(t)
		w.callModern(1, "two", `{"elicitation":{}}`)
		first := w.nextLine()
		want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required",` + serverMeta + `,"inputRequests":{` +
			`"color":{"method":"elicitation/create","params":{"mode":"form","message":"Which?\n\nThis question is lost if Beam restarts.","requestedSchema":{"type":"object","properties":{"color":{"type":"string","oneOf":[{"title":"Red","const":"r"},{"title":"Green","const":"g"}]}},"required":["color"]}}},` +
			`"name":{"method":"elicitation/create","params":{"mode":"form","message":"Who?\n\nThis question is lost if Beam restarts.","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}},` +
			`"requestState":"STATE"}}`
		if maskIDs(first) != want {
			t.Errorf("the first round is\n%s\nwant\n%s", maskIDs(first), want)
		}
		// The question without an answer is asked again, alone.
		w.retryWithState(2, "two", first, `{"name":{"action":"accept","content":{"name":"Ada"}}}`)
		second := w.nextLine()
		if requests := jsonMember(t, second, "result", "inputRequests"); !strings.HasPrefix(requests, `{"color"`) || strings.Contains(requests, "name\":{\"m") {
			t.Errorf("the second round asks %s, want the color alone", requests)
		}
		w.retryWithState(3, "two", second, `{"color":{"action":"accept","content":{"color":"r"}}}`)
		w.expectLine(`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete",` + serverMeta + `,"content":[{"type":"text","text":"Ada r"}],"structuredContent":"Ada r"}}`)
		w.closeAndWait()
	})
}

func TestLostResponseLosesNothing(t *testing.T) {
	effects := 0
	w := newTestServer(t, twoQuestionsInTurn(&effects)).connectStdio(t)
	w.callModern(1, "inturn", `{"elicitation":{}}`)
	first := w.nextLine()
	answer := `{"first":{"action":"accept","content":{"first":"one"}}}`
	w.retryWithState(2, "inturn", first, answer)
	w.nextLine() // lost
	w.retryWithState(3, "inturn", first, `{"first":{"action":"accept","content":{"first":"another"}}}`)
	second := w.nextLine()
	if !strings.Contains(second, `"second":{"method"`) || strings.Contains(second, `"first":{"method"`) {
		t.Errorf("the retry of a lost round trip returns %s, want the next question", second)
	}
	w.retryWithState(4, "inturn", second, `{"second":{"action":"accept","content":{"second":"two"}}}`)
	result := w.nextLine()
	w.retryWithState(5, "inturn", second, `{"second":{"action":"decline"}}`)
	again := w.nextLine()
	for _, r := range []string{result, again} {
		if got := jsonMember(t, r, "result", "structuredContent"); got != `"one two"` {
			t.Errorf("the result is %s, want the answers that were given first", got)
		}
	}
	if effects != 1 {
		t.Errorf("what lies between the questions was done %d times, want once", effects)
	}
}

func TestStateOpensOnlyForOwnCall(t *testing.T) {
	effects := 0
	w := newTestServer(t, twoQuestionsInTurn(&effects), twoQuestions).connectStdio(t)
	w.callModern(1, "inturn", `{"elicitation":{}}`)
	first := w.nextLine()
	var state string
	if err := json.Unmarshal([]byte(jsonMember(t, first, "result", "requestState")), &state); err != nil {
		t.Fatal(err)
	}
	flipped := []byte(state)
	flipped[len(flipped)/2] ^= 1
	for name, params := range map[string]string{
		"changed":              `"name":"inturn","requestState":"` + string(flipped) + `"`,
		"longer":               `"name":"inturn","requestState":"` + state + `-TAMPERED"`,
		"of another tool":      `"name":"two","requestState":"` + state + `"`,
		"with other arguments": `"name":"inturn","arguments":{"x":1},"requestState":"` + state + `"`,
		"that is none":         `"name":"inturn","requestState":"e30"`,
	} {
		w.sendLine(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{%s,"inputResponses":{},%s}}`, params, modernMeta(`{"elicitation":{}}`, ""))
		if got := w.nextLine(); !strings.Contains(got, `"code":-32602`) {
			t.Errorf("a state %s gets the response %s", name, got)
		}
	}
	// The same arguments may be formatted differently.
	w.sendLine(`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"inturn","arguments":{ },"requestState":%q,%s}}`, state, modernMeta(`{"elicitation":{}}`, ""))
	if got := w.nextLine(); !strings.Contains(got, "input_required") {
		t.Errorf("the state's own call gets the response %s", got)
	}
}

func TestStateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		effects := 0
		w := newTestServer(t, twoQuestionsInTurn(&effects)).connectStdio(t)
		w.callModern(1, "inturn", `{"elicitation":{}}`)
		first := w.nextLine()
		time.Sleep(25 * time.Hour)
		w.retryWithState(2, "inturn", first, `{"first":{"action":"accept","content":{"first":"one"}}}`)
		if got := w.nextLine(); !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, "expired") {
			t.Errorf("an expired state gets the response %s", got)
		}
		w.closeAndWait()
	})
}

func TestUndeclaredCapabilitiesAreNotUsed(t *testing.T) {
	w := newTestServer(t, askingPhoton("word", ask.ForText("word", "Which word?")), askingPhoton("secret", ask.ForSecret("key", "The key?"))).connectStdio(t)
	for tool, want := range map[string]string{"word": `{"elicitation":{"form":{}}}`, "secret": `{"elicitation":{"url":{}}}`} {
		caps := `{}`
		if tool == "secret" {
			caps = `{"elicitation":{}}`
		}
		w.callModern(1, tool, caps)
		got := w.nextLine()
		if jsonMember(t, got, "error", "code") != "-32021" || jsonMember(t, got, "error", "data", "requiredCapabilities") != want {
			t.Errorf("%s without the capability gets the response %s", tool, got)
		}
	}
}

func TestConsentIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServer(t, askingPhoton("secret", ask.ForSecret("key", "The key?")))
		w := r.connectStdio(t)
		caps := `{"elicitation":{"url":{}}}`
		w.callModern(1, "secret", caps)
		first := w.nextLine()
		if !strings.Contains(first, `"params":{"mode":"url","message":"The key?\n\nThis question is lost if Beam restarts.","url":"http://127.0.0.1:3008/asks/`) || strings.Contains(first, "elicitationId") {
			t.Errorf("the question is %s", first)
		}
		retry := func(id int, result string) {
			w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"secret","requestState":%s,"inputResponses":{"key":{"action":"accept"}},%s}}`,
				id, jsonMember(t, result, "result", "requestState"), modernMeta(caps, ""))
		}
		// Nobody has answered on the page yet, so the question is asked again.
		retry(2, first)
		second := w.nextLine()
		if !strings.Contains(second, `"key":{"method":"elicitation/create"`) {
			t.Errorf("consent alone gets the response %s, want the question again", second)
		}
		retry(3, second)
		synctest.Wait()
		answer := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"key":"swordfish"}`)}
		if err := r.engine.Answer(t.Context(), operator, must(r.engine.Inbox(operator, 0))[0].ID, answer, "browser"); err != nil {
			t.Fatal(err)
		}
		if got := w.nextLine(); jsonMember(t, got, "result", "structuredContent") != `"••••"` {
			t.Errorf("once the page has the answer the call ends with %s", got)
		}
		w.closeAndWait()
	})
}

func TestEventsBetweenRoundTripsWaitForRetry(t *testing.T) {
	effects := 0
	w := newTestServer(t, twoQuestionsInTurn(&effects)).connectStdio(t)
	token := `,"progressToken":7`
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inturn",%s}}`, modernMeta(`{"elicitation":{}}`, token))
	first := w.nextLine()
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inturn","requestState":%s,"inputResponses":{"first":{"action":"accept","content":{"first":"one"}}},%s}}`,
		jsonMember(t, first, "result", "requestState"), modernMeta(`{"elicitation":{}}`, token))
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0,"message":"between"}}`)
	if got := w.nextLine(); !strings.Contains(got, "input_required") {
		t.Errorf("then got %s, want the second question", got)
	}
}

func TestRunEndsWhenStateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error, 1)
		r := newTestServer(t, stubbornPhoton(done))
		w := r.connectStdio(t)
		w.callModern(1, "stubborn", `{"elicitation":{}}`)
		first := w.nextLine()
		time.Sleep(20 * time.Hour)
		w.retryWithState(2, "stubborn", first, `{}`)
		w.nextLine()
		time.Sleep(20 * time.Hour)
		synctest.Wait()
		if n := len(must(r.engine.Inbox(operator, 0))); n != 1 {
			t.Errorf("%d questions are open 20 hours after the last round, want 1", n)
		}
		time.Sleep(5 * time.Hour)
		expectGeneratorError(t, done, ask.ErrStopped)
		w.closeAndWait()
	})
}
