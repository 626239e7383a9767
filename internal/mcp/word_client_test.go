package mcp_test

import (
	"strconv"
	"strings"
	"testing"
)

// A wordClient calls tools that ask for a word and return it.
type wordClient struct{ *stdioClient }

func wordClientOf(t *testing.T, r *testServer) wordClient {
	t.Helper()
	w := wordClient{r.connectStdio(t)}
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	return w
}

// call calls a tool, with a word as its argument if there is one.
func (w wordClient) call(id int, tool string, word ...string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"word":%q}}}`, id, tool, strings.Join(word, ""))
}

// answer answers the next question, and returns its id.
func (w wordClient) answer(word string) (id string) {
	w.t.Helper()
	id = w.question()
	w.reply(id, word)
	return id
}

func (w wordClient) reply(id, word string) {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":%q}}}`, id, word)
}

// question returns the id of the next question.
func (w wordClient) question() string {
	w.t.Helper()
	return jsonMember(w.t, w.stdioClient.nextQuestion(), "id")
}

// returns expects the result of a call next.
func (w wordClient) returns(id int, word string) {
	w.t.Helper()
	got := w.nextLine()
	if jsonMember(w.t, got, "id") != strconv.Itoa(id) || !strings.Contains(got, `"text":"`+word+`"`) {
		w.t.Fatalf("got %s, want the result %q of call %d", got, word, id)
	}
}

// pings checks that the server handles messages.
func (w wordClient) pings() {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	w.expectLine(`{"jsonrpc":"2.0","id":"ping","result":{}}`)
}
