package mcp_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

func TestEventsComeInOrderBeforeTheResult(t *testing.T) {
	w := newTestServer(t, helloPhoton).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"},"_meta":{"progressToken":"p"}}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0,"message":"thinking"}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":2,"message":"half"}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"hello","data":"a line"}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2,"total":2}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":9007199254740993,"result":{"content":[{"type":"text","text":"Hello, Ada"}],"structuredContent":{"result":"Hello, Ada"}}}`)
	w.closeAndWait()
}

func TestStatusWithoutTokenIsLogMessage(t *testing.T) {
	w := newTestServer(t, helloPhoton).connectStdio(t)
	w.initialize("2025-06-18", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"}}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"hello","data":"thinking"}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"hello","data":"a line"}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","logger":"inner","data":{"n":1}}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello, Ada"}],"structuredContent":{"result":"Hello, Ada"}}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"error"}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"}}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"Hello, Ada"}],"structuredContent":{"result":"Hello, Ada"}}}`)
}

func TestInvalidArgumentsAreToolError(t *testing.T) {
	w := newTestServer(t, helloPhoton).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","arguments":{"name":"A","age":3}}}`)
	got := w.nextLine()
	for _, want := range []string{`"isError":true`, `/name must be at least 2 characters long`, `age`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s does not say %s", got, want)
		}
	}
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"helo"}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown tool: \"helo\""}}`)
}

func TestElicitationByVersion(t *testing.T) {
	photon := askingPhoton("pick", ask.ForSelect("color", "Which color?", colors))
	for _, tt := range []struct{ version, want string }{
		{"2025-06-18", `{"jsonrpc":"2.0","id":"RUN.3","method":"elicitation/create","params":{"message":"Which color?\n\nThis question is lost if Beam restarts.","requestedSchema":{"type":"object","properties":{"color":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]}},"required":["color"]}}}`},
		{"2025-11-25", `{"jsonrpc":"2.0","id":"RUN.3","method":"elicitation/create","params":{"mode":"form","message":"Which color?\n\nThis question is lost if Beam restarts.","requestedSchema":{"type":"object","properties":{"color":{"type":"string","oneOf":[{"title":"Red","const":"r"},{"title":"Green","const":"g"}]}},"required":["color"]}}}`},
	} {
		t.Run(tt.version, func(t *testing.T) {
			w := newTestServer(t, photon).connectStdio(t)
			w.initialize(tt.version, `{"elicitation":{}}`)
			w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pick"}}`)
			question := w.nextLine()
			if maskIDs(question) != tt.want {
				t.Errorf("the question is\n%s\nwant\n%s", maskIDs(question), tt.want)
			}
			w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"color":"g"}}}`, jsonMember(t, question, "id"))
			w.expectLine(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"g"}],"structuredContent":{"result":"g"}}}`)
		})
	}
}

func TestInvalidAnswerIsAskedAgain(t *testing.T) {
	w := newTestServer(t, askingPhoton("pick", ask.ForSelect("color", "Which color?", colors))).connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pick"}}`)
	for i := range 3 {
		question := w.nextLine()
		message := jsonMember(t, question, "params", "message")
		if again := strings.Contains(message, "not accepted"); again != (i > 0) || strings.Count(message, "not accepted") > 1 {
			t.Errorf("the question says, the %d. time: %s", i+1, message)
		}
		w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"color":"blue"}}}`, jsonMember(t, question, "id"))
	}
	if got := w.nextLine(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "got no valid answer: 3 answers") {
		t.Errorf("after three invalid answers the call ends with %s", got)
	}
}

func TestClientThatCantBeAskedLearnsWhy(t *testing.T) {
	photons := []*generators.Photon{
		askingPhoton("word", ask.ForText("word", "Which word?")), askingPhoton("secret", ask.ForSecret("key", "The key?")),
	}
	for _, tt := range []struct{ version, caps, tool, want string }{
		{"2025-03-26", `{"elicitation":{}}`, "word", "capability elicitation"},
		{"2025-06-18", `{}`, "word", "capability elicitation"},
		{"2025-11-25", `{"elicitation":{"url":{}}}`, "word", "capability elicitation"},
		{"2025-11-25", `{"elicitation":{}}`, "secret", "capability elicitation.url"},
		{"2025-11-25", `{}`, "word", `Nobody could be asked \"Which word?\": the MCP client can't be asked this: it did not declare the capability elicitation. ` +
			`Tell the user: another call from here would end the same way.`},
	} {
		w := newTestServer(t, photons...).connectStdio(t)
		w.initialize(tt.version, tt.caps)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tt.tool)
		if got := w.nextLine(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, tt.want) {
			t.Errorf("%s in %s with %s: %s", tt.tool, tt.version, tt.caps, got)
		}
	}
}

func TestCancelledCallGetsNoResponse(t *testing.T) {
	done := make(chan error, 1)
	w := newTestServer(t, stubbornPhoton(done), helloPhoton).connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stubborn"}}`)
	question := w.nextLine()
	w.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"its call was canceled","requestId":"RUN.3"}}`)
	expectGeneratorError(t, done, ask.ErrStopped)
	// A late answer is ignored, and the session goes on.
	w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"late"}}}`, jsonMember(t, question, "id"))
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	w.expectLine(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	w.closeAndWait()
	for line := range w.lines {
		t.Errorf("after the end the server sent %s", line)
	}
}

func TestSecretIsAskedOnPage(t *testing.T) {
	r := newTestServer(t, askingPhoton("secret", ask.ForSecret("key", "The key?")))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{"form":{},"url":{}}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}`)
	question := w.nextLine()
	want := `{"jsonrpc":"2.0","id":"RUN.3","method":"elicitation/create","params":{"mode":"url","message":"The key?\n\nThis question is lost if Beam restarts.","elicitationId":"RUN.3","url":"http://127.0.0.1:3008/asks/RUN.3"}}`
	if maskIDs(question) != want {
		t.Errorf("the question is\n%s\nwant\n%s", maskIDs(question), want)
	}
	id := jsonMember(t, question, "id")
	w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"key":"not this way"}}}`, id)
	w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	w.expectLine(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	open := must(r.engine.Inbox(operator, 0))
	if len(open) != 1 {
		t.Fatalf("there are %d open questions, want the secret's", len(open))
	}
	answer := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"key":"swordfish"}`)}
	if err := r.engine.Answer(t.Context(), operator, open[0].ID, answer, "browser"); err != nil {
		t.Fatal(err)
	}
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"RUN.3"}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"••••"}],"structuredContent":{"result":"••••"}}}`)
}

func TestQuestionAnsweredElsewhereIsWithdrawn(t *testing.T) {
	r := newTestServer(t, askingPhoton("word", ask.ForText("word", "Which word?")))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word"}}`)
	w.nextLine()
	answer := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"word":"fish"}`)}
	if err := r.engine.Answer(t.Context(), operator, must(r.engine.Inbox(operator, 0))[0].ID, answer, "browser"); err != nil {
		t.Fatal(err)
	}
	w.expectLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"answered from browser (accept)","requestId":"RUN.3"}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fish"}],"structuredContent":{"result":"fish"}}}`)
}

func TestMalformedMessagesGetErrors(t *testing.T) {
	w := newTestServer(t, helloPhoton).connectStdio(t)
	for _, tt := range []struct{ line, want string }{
		{`{"jsonrpc":`, `"code":-32700`},
		{`[]`, `"code":-32600`},
		{`7`, `"code":-32600`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, `"id":1,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `send initialize first`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta(`{}`, `,"io.modelcontextprotocol/logLevel":"loud"`) + `}}`, `not a log level`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"code":-32022`},
	} {
		w.sendLine("%s", tt.line)
		if got := w.nextLine(); !strings.Contains(got, tt.want) {
			t.Errorf("%s gets the response %s, want %s", tt.line, got, tt.want)
		}
	}
}

func TestPipelinedMessagesAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, helloPhoton).connectStdio(t)
		w.sendLine("\n  \n" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"w","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if _, err := w.in.Write([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"}}}`)); err != nil {
			t.Fatal(err)
		}
		w.closeAndWait()
		var last string
		for line := range w.lines {
			last = line
		}
		if !strings.Contains(last, "Hello, Ada") {
			t.Errorf("the last line is %s, want the result of the call whose line had no end", last)
		}
	})
}

func TestBatchResponsesComeTogether(t *testing.T) {
	w := newTestServer(t, helloPhoton).connectStdio(t)
	w.initialize("2025-03-26", `{}`)
	w.sendLine(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/none"},{"jsonrpc":"2.0","id":2,"method":"nothing"},7]`)
	got := w.nextLine()
	for _, want := range []string{`[{"jsonrpc":"2.0","id":1,"result":{}}`, `"id":2,"error":{"code":-32601`, `"code":-32600`} {
		if !strings.Contains(got, want) {
			t.Errorf("the batch gets the response %s, want %s in it", got, want)
		}
	}
}
