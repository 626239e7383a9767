package testserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/testserver"
)

// faultLines says what the client receives from each fault that ends by itself, or
// whose first message says what it is.
var faultLines = []struct {
	tool, arguments string
	want            []string // in the lines that follow the call, one after the other
}{
	{"fault_schema_nested", `{}`, []string{`"properties":{"person":{"type":"object"`}},
	{"fault_schema_unknown_type", `{}`, []string{`"type":"wormhole"`}},
	{"fault_schema_ref", `{}`, []string{`{"$ref":"#"}`}},
	{"fault_schema_list", `{}`, []string{`"requestedSchema":["not","a","schema"]`}},
	{"fault_no_message", `{}`, []string{`"params":{"requestedSchema":`}},
	{"fault_mode", `{}`, []string{`"mode":"telepathy"`}},
	{"fault_markup", `{}`, []string{`<script>alert(1)</script>`}},
	{"fault_url_user", `{}`, []string{`"url":"https://bank.example@evil.example/login"`}},
	{"fault_url_punycode", `{}`, []string{`"url":"https://xn--pypal-4ve.example/login"`}},
	{"fault_url_script", `{}`, []string{`"url":"javascript:`}},
	{"fault_oversized_question", `{"bytes":1000000}`, []string{strings.Repeat("long ", 200_000)}},
	{"fault_many_fields", `{}`, []string{`"field_09999"`}},
	{"fault_many_questions", `{}`, []string{`"method":"elicitation/create"`, `"method":"elicitation/create"`}},
	{"fault_withdrawn", `{"after":0}`, []string{`"id":"ask-1","method":"elicitation/create"`, `"requestId":"ask-1"`, `Withdrew`}},
	{"fault_same_id", `{}`, []string{`"id":"ask-1"`, `"id":"ask-1"`}},
	{"fault_reused_id", `{}`, []string{`"id":"ask-1"`}},
	{"fault_late_question", `{}`, []string{`The call has ended.`, `"id":"ask-1"`}},
	{"fault_abandoned", `{}`, []string{`"id":"ask-1"`, `Did not wait.`}},
	{"fault_unknown_request", `{}`, []string{`"method":"person/summon"`}},
	{"fault_twice", `{}`, []string{`The first answer.`, `The second answer.`}},
	{"fault_malformed", `{}`, []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[` + "\n"}},
	{"fault_not_jsonrpc", `{}`, []string{`{"version":1,"id":1,"answer":42}`}},
	{"fault_not_a_result", `{}`, []string{`"result":42`}},
	{"fault_content", `{}`, []string{`"isError":"maybe"`}},
	{"fault_unknown_content", `{}`, []string{`hologram`}},
	{"fault_result_and_error", `{}`, []string{`"message":"both"`}},
	{"fault_error_without_code", `{}`, []string{`"error":{}`}},
	{"fault_binary", `{}`, []string{"\xff\xfe\x00"}},
	{"fault_deep", `{}`, []string{strings.Repeat("[", 100_000)}},
	{"fault_structured", `{}`, []string{`"structuredContent":{"city":7}`}},
	{"fault_stray_answers", `{}`, []string{`"id":999999`, `"id":"nobody"`, `"id":null`, `"id":-1`, `"id":1.5`, `"id":[]`, `Sent them.`}},
	{"fault_stray_notifications", `{}`, []string{`notifications/progress`}},
	{"fault_oversized", `{"bytes":1000000}`, []string{strings.Repeat("x", 1_000_000)}},
	{"fault_late", `{"ms":0}`, []string{`Here it is.`}},
	{"fault_flood", `{"count":2}`, []string{`"data":"flood"`, `"data":"flood"`, `Sent 2`}},
	{"fault_changes", `{"count":1}`, []string{`tools/list_changed`, `resources/list_changed`, `prompts/list_changed`, `Said so`}},
	{"fault_stderr", `{"bytes":1000}`, []string{`Wrote 1000 bytes.`}},
	{"fault_list", `{"fault":"same-names"}`, []string{`same-names`}},
	{"fault_list", `{"fault":"nothing"}`, []string{`no fault \"nothing\"`}},
}

func TestFaultsOnTheWire(t *testing.T) {
	for _, test := range faultLines {
		t.Run(test.tool, func(t *testing.T) {
			t.Parallel()
			l := connectLines(t, testserver.Options{})
			l.initialize("2025-06-18")
			l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, test.tool, test.arguments))
			r := bufio.NewReader(l.raw)
			for _, want := range test.want {
				line, err := r.ReadString('\n')
				for err == nil && strings.Contains(line, "list_changed") && !strings.Contains(want, "list_changed") {
					line, err = r.ReadString('\n') // a change is told beside the result
				}
				if err != nil || !strings.Contains(line, want) {
					t.Fatalf("the server sent %.300s (%v), want %.300s in it", line, err, want)
				}
			}
		})
	}
}

func TestListFaults(t *testing.T) {
	for _, test := range []struct{ fault, cursor, want string }{
		{"many-tools", "", `"nextCursor":"1000"`},
		{"many-tools", "999000", `"name":"tool_999999"`},
		{"cyclic-cursor", "b", `"nextCursor":"a"`},
		{"endless-cursor", "7", `"nextCursor":"8"`},
		{"cyclic-ref", "", `"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}`},
		{"schema-bomb", "", `"d30"`},
		{"deep-schema", "", strings.Repeat("}}", 2500)},
		{"remote-ref", "", `file:///etc/passwd`},
		{"bad-schema", "", `"inputSchema":null`},
		{"bad-names", "", `"name":null`},
		{"same-names", "", `"description":"The second."`},
		{"injected-description", "", `onerror`},
		{"long-description", "", strings.Repeat("long ", 1<<20/5)},
		{"no-list", "", `{"tools":"none"}`},
	} {
		t.Run(test.fault+test.cursor, func(t *testing.T) {
			t.Parallel()
			l := connectLines(t, testserver.Options{Fault: test.fault})
			l.initialize("2025-11-25")
			l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"` + test.cursor + `"}}`)
			if got := l.next(); !strings.Contains(got, test.want) {
				t.Errorf("the list is %.300s, want %.300s in it", got, test.want)
			}
		})
	}
}

func TestDescriptionChanges(t *testing.T) {
	l := connectLines(t, testserver.Options{Fault: "changing-description"})
	l.initialize("2025-11-25")
	for i := range 2 {
		l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if got, want := l.next(), fmt.Sprintf("Description number %d.", i+1); !strings.Contains(got, want) {
			t.Errorf("the list is %s, want %q in it", got, want)
		}
	}
}

func TestFaultsOfTheStart(t *testing.T) {
	if got := connectLines(t, testserver.Options{Fault: "unknown-version"}).initialize("2025-11-25"); !strings.Contains(got, `"1999-01-01"`) {
		t.Errorf("initialize returned %s", got)
	}
	line, err := bufio.NewReader(connectLines(t, testserver.Options{Fault: "garbage"}).raw).ReadString('\n')
	if err != nil || line != "Welcome to the test server!\n" {
		t.Errorf("the first line is %q (%v)", line, err)
	}
	ended := make(chan int, 1)
	s, err := testserver.New(testserver.Options{Fault: "exit", Stderr: t.Output(), Exit: func(status int) { ended <- status }})
	if err != nil {
		t.Fatal(err)
	}
	s.ServeStdio(t.Context(), strings.NewReader(""), t.Output())
	if status := <-ended; status != 3 {
		t.Errorf("the exit status is %d, want 3", status)
	}
}

func TestUnknownOptionsAreRefused(t *testing.T) {
	for _, o := range []testserver.Options{{Protocol: "2024-01-01"}, {Fault: "none"}} {
		if _, err := testserver.New(o); err == nil || !strings.Contains(err.Error(), "must be one of") {
			t.Errorf("New(%+v) returned %v", o, err)
		}
	}
}

func TestSelectedVersionIsTheOnlyOne(t *testing.T) {
	for _, version := range testserver.Versions[1:] {
		var got struct {
			Result struct{ ProtocolVersion string }
		}
		if err := json.Unmarshal([]byte(connectLines(t, testserver.Options{Protocol: version}).initialize("2025-03-26")), &got); err != nil || got.Result.ProtocolVersion != version {
			t.Errorf("the server agreed on %q (%v), want %s", got.Result.ProtocolVersion, err, version)
		}
	}
	if got := connectLines(t, testserver.Options{Protocol: testserver.Versions[0]}).initialize("2025-11-25"); !strings.Contains(got, `"code":-32601`) {
		t.Errorf("initialize of a modern server returned %s", got)
	}
}
