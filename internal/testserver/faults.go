package testserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// plainSchema is the schema of a question that doesn't matter.
const plainSchema = `{"type":"object","properties":{"name":{"type":"string"}}}`

// asks returns a tool that asks with params that no server should send, and shows what
// the client answered.
func asks(name, description string, params object) *tool {
	return &tool{name: name, description: description, run: func(r *request) (object, error) {
		return showAnswer(r.elicit(params))
	}}
}

// asksSchema returns a tool that asks with a schema that is not valid in MCP.
func asksSchema(name, description, schema string) *tool {
	return asks(name, description, object{"message": "Please answer.", "requestedSchema": rawObject(schema)})
}

// asksURL returns a tool that asks to open a URL that a client should show with care, or
// refuse.
func asksURL(name, description, url string) *tool {
	return asks(name, description, object{"mode": "url", "message": "Please sign in to your bank.", "url": url, "elicitationId": "fault"})
}

func faultTools() []*tool {
	return append(questionFaults(), messageFaults()...)
}

// questionFaults returns the tools whose questions are not what they should be.
func questionFaults() []*tool {
	return []*tool{
		asksSchema("fault_schema_nested", "Asks for a nested object.", `{"type":"object","properties":{"person":{"type":"object","properties":{"name":{"type":"string"}}}}}`),
		asksSchema("fault_schema_unknown_type", "Asks for a field of an unknown type.", `{"type":"object","properties":{"x":{"type":"wormhole"}},"required":["x"]}`),
		asksSchema("fault_schema_ref", "Asks with a schema that refers to itself.", `{"type":"object","properties":{"x":{"$ref":"#"}}}`),
		asksSchema("fault_schema_list", "Asks with a schema that is no object.", `["not","a","schema"]`),
		asksSchema("fault_schema_pattern", "Asks for a text whose pattern takes exponential time.", `{"type":"object","properties":{"x":{"type":"string","pattern":"^(a+)+$"}}}`),
		asksSchema("fault_schema_bounds", "Asks for a number that can't exist.", `{"type":"object","properties":{"x":{"type":"integer","minimum":10,"maximum":1}},"required":["x"]}`),
		asksSchema("fault_default", "Asks with a default that isn't allowed.", `{"type":"object","properties":{"x":{"type":"string","enum":["a","b"],"default":"c"}}}`),
		asks("fault_no_message", "Asks without a message.", object{"requestedSchema": rawObject(plainSchema)}),
		asks("fault_mode", "Asks in a mode that doesn't exist.", object{"mode": "telepathy", "message": "Think of a number."}),
		asks("fault_markup", "Asks with markup, escape sequences and bidirectional text.", object{
			"message":         "<script>alert(1)</script> **bold** [link](javascript:alert(1)) \x1b[2J\u202egnp.exe",
			"requestedSchema": rawObject(`{"type":"object","properties":{"<b>x</b>":{"type":"string","title":"<img src=x onerror=alert(1)>","description":"\u001b[31mred"}}}`),
		}),
		asksURL("fault_url_user", "Asks to open a URL with user information.", "https://bank.example@evil.example/login"),
		asksURL("fault_url_punycode", "Asks to open a URL whose host is written in punycode.", "https://xn--pypal-4ve.example/login"),
		asksURL("fault_url_lookalike", "Asks to open a URL whose host has letters that look like others.", "https://pаypal.example/login"),
		asksURL("fault_url_script", "Asks to open a URL that is a script.", "javascript:alert(document.cookie)"),
		asksURL("fault_url_file", "Asks to open a file.", "file:///etc/passwd"),
		asksURL("fault_url_relative", "Asks to open a URL without a host.", "/login"),
		{
			name: "fault_oversized_question", description: "Asks with a long message.",
			input: `"bytes":{"type":"integer","default":20971520,"maximum":1073741824}`, run: func(r *request) (object, error) {
				n, err := r.number("bytes", 20<<20, 1<<30)
				if err != nil {
					return nil, err
				}
				return showAnswer(r.elicit(object{"message": strings.Repeat("long ", n/5), "requestedSchema": rawObject(plainSchema)}))
			},
		},
		{name: "fault_many_fields", description: "Asks for 10,000 fields.", run: func(r *request) (object, error) {
			properties := object{}
			for i := range 10_000 {
				properties[fmt.Sprintf("field_%05d", i)] = object{"type": "string"}
			}
			return showAnswer(r.elicit(object{"message": "Please fill in the form.", "requestedSchema": object{"type": "object", "properties": properties}}))
		}},
		{
			name: "fault_many_questions", description: "Asks many questions at once.",
			input: `"count":{"type":"integer","default":1000,"maximum":1000}`, run: func(r *request) (object, error) {
				if r.Arguments == nil {
					r.Arguments = rawObject(`{"count":1000}`)
				}
				return askAtOnce(r)
			},
		},
		{name: "fault_endless_questions", description: "Asks again and again.", run: func(r *request) (object, error) {
			for {
				if _, err := r.elicit(nameForm("Who are you this time?")); err != nil {
					return nil, err
				}
			}
		}},
		{
			name: "fault_withdrawn", description: "Asks, and withdraws the question.",
			input: `"after":{"type":"integer","description":"Milliseconds until then.","default":100}`, run: sessionsOnly(withdrawQuestion),
		},
		{name: "fault_same_id", description: "Asks two questions at once with the same id.", run: sessionsOnly(askSameID)},
		{name: "fault_reused_id", description: "Asks a question with an id that was used before.", run: sessionsOnly(askReusedID)},
		{name: "fault_late_question", description: "Asks after the call has ended.", run: sessionsOnly(askLate)},
		{name: "fault_unknown_request", description: "Sends a request with an unknown method.", run: func(r *request) (object, error) {
			return showAnswer(r.ask(question{"person/summon", object{}}))
		}},
		{name: "fault_abandoned", description: "Asks, and ends the call without waiting for the answer.", run: sessionsOnly(func(r *request) (object, error) {
			r.sendQuestion(r.session.newID(), "Will anybody read the answer?")
			return text("Did not wait."), nil
		})},
	}
}

// messageFaults returns the tools whose messages, or whose process, are at fault.
func messageFaults() []*tool {
	return []*tool{
		{name: "fault_never", description: "Never answers.", run: func(r *request) (object, error) {
			<-r.ctx.Done()
			return nil, errNoReply
		}},
		{name: "fault_deaf", description: "Never answers, and ignores cancellation: it answers a second after it.", run: func(r *request) (object, error) {
			<-r.ctx.Done()
			time.Sleep(time.Second)
			_ = r.out.Send("", msg.EncodeResult(r.id, text("Too late.")))
			return nil, errNoReply
		}},
		{name: "fault_twice", description: "Answers twice.", run: func(r *request) (object, error) {
			_ = r.out.Send("", msg.EncodeResult(r.id, text("The first answer.")))
			return text("The second answer."), nil
		}},
		sends("fault_malformed", "Answers with a line that is no JSON.", func(r *request) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[`, r.id)
		}),
		sends("fault_not_jsonrpc", "Answers with an object that is no JSON-RPC message.", func(r *request) string {
			return fmt.Sprintf(`{"version":1,"id":%s,"answer":42}`, r.id)
		}),
		sends("fault_not_a_result", "Answers with a result that is a number.", func(r *request) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":42}`, r.id)
		}),
		sends("fault_content", "Answers with content that is none.", func(r *request) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":{"type":"hologram"},"structuredContent":7,"isError":"maybe"}}`, r.id)
		}),
		sends("fault_unknown_content", "Answers with a content block of an unknown kind.", func(r *request) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"hologram","data":"AAAA"},{"type":"text","text":"A text."}]}}`, r.id)
		}),
		sends("fault_result_and_error", "Answers with a result and an error.", func(r *request) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]},"error":{"code":-32000,"message":"both"}}`, r.id)
		}),
		sends("fault_error_without_code", "Answers with an error without code and message.", func(r *request) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{}}`, r.id)
		}),
		sends("fault_binary", "Answers with bytes that are no text.", func(r *request) string {
			return fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\x00\"}]}}", r.id)
		}),
		sends("fault_deep", "Answers with structured content that is nested 100,000 deep.", func(r *request) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"x":%s%s}}}`, r.id, strings.Repeat("[", 100_000), strings.Repeat("]", 100_000))
		}),
		{name: "fault_structured", description: "Answers with structured content that its output schema doesn't allow.", more: object{"outputSchema": rawObject(weatherSchema)}, run: func(*request) (object, error) {
			return object{"content": []any{textBlock("hot")}, "structuredContent": object{"city": 7}}, nil
		}},
		{name: "fault_stray_answers", description: "Answers requests that nobody has made.", run: func(r *request) (object, error) {
			for _, id := range []string{"999999", `"nobody"`, "null", "-1", "1.5", "[]"} {
				_ = r.out.Send("", msg.EncodeResult(json.RawMessage(id), text("A stray answer.")))
			}
			return text("Sent them."), nil
		}},
		{name: "fault_stray_notifications", description: "Notifies of progress, cancellation, completion and tasks that don't exist.", run: func(r *request) (object, error) {
			r.notify("notifications/progress", object{"progressToken": "nobody", "progress": 1})
			r.notify("notifications/progress", object{"progressToken": object{}, "progress": "half"})
			r.notify("notifications/cancelled", object{"requestId": "nobody"})
			r.notify("notifications/cancelled", object{})
			r.notify("notifications/elicitation/complete", object{"elicitationId": "nobody"})
			r.notify("notifications/tasks/status", object{"taskId": "nobody", "status": "exploded"})
			r.notify("notifications/message", object{"level": "loud", "data": nil})
			r.notify("notifications/unheard_of", object{"x": 1})
			return text("Sent them."), nil
		}},
		{
			name: "fault_oversized", description: "Answers with a long text.",
			input: `"bytes":{"type":"integer","default":20971520,"maximum":1073741824}`, run: func(r *request) (object, error) {
				n, err := r.number("bytes", 20<<20, 1<<30)
				return text("%s", strings.Repeat("x", n)), err
			},
		},
		{
			name: "fault_late", description: "Answers after a time, which may be longer than a client waits.",
			input: `"ms":{"type":"integer","default":60000}`, run: func(r *request) (object, error) {
				d, err := r.milliseconds("ms", 60_000)
				if err == nil {
					err = r.wait(d)
				}
				return text("Here it is."), err
			},
		},
		{
			name: "fault_flood", description: "Sends notifications as fast as it can.",
			input: `"count":{"type":"integer","default":100000,"maximum":100000000}`, run: flood,
		},
		{
			name: "fault_changes", description: "Says as fast as it can that its lists have changed.",
			input: `"count":{"type":"integer","default":10000,"maximum":10000000}`, run: floodChanges,
		},
		{
			name: "fault_stderr", description: "Floods stderr.",
			input: `"bytes":{"type":"integer","default":1048576,"maximum":4294967296}`, run: floodStderr,
		},
		{
			name: "fault_exit", description: "Ends the process in mid-call.",
			input: `"status":{"type":"integer","default":3,"maximum":255},"ask":{"type":"boolean","description":"Asks a question before.","default":false},` +
				`"after":{"type":"integer","description":"Milliseconds after the call, which is answered, until the process ends."}`, run: exit,
		},
		{
			name: "fault_list", description: "Changes the list of tools as --fault does; an empty name restores it.",
			input: `"fault":{"type":"string"}`, required: []string{"fault"}, run: setListFault,
		},
	}
}

// sends returns a tool that answers with a line.
func sends(name, description string, line func(*request) string) *tool {
	return &tool{name: name, description: description, run: func(r *request) (object, error) {
		_ = r.out.Send("", []byte(line(r))) // a client that is gone needs no answer
		<-r.ctx.Done()
		return nil, errNoReply
	}}
}

// sessionsOnly wraps a tool that sends requests to the client, which a modern server
// can't.
func sessionsOnly(run func(*request) (object, error)) func(*request) (object, error) {
	return func(r *request) (object, error) {
		if r.isModern() {
			return failure("In %s, a server sends no requests.", r.version), nil
		}
		return run(r)
	}
}

// sendQuestion sends a question without waiting for the answer.
func (r *request) sendQuestion(id, message string) {
	_ = r.out.Send("", msg.Encode(msg.Outgoing{ID: json.RawMessage(id), Method: "elicitation/create", Params: nameForm(message)}))
}

// withdrawQuestion asks and withdraws the question.
func withdrawQuestion(r *request) (object, error) {
	after, err := r.milliseconds("after", 100)
	if err != nil {
		return nil, err
	}
	id := r.session.newID()
	r.sendQuestion(id, "Will you answer in time?")
	if err := r.wait(after); err != nil {
		return nil, err
	}
	r.withdraw(id, "the server has changed its mind")
	return text("Withdrew the question."), nil
}

func askSameID(r *request) (object, error) {
	id := r.session.newID()
	response, forget := r.session.expectResponse(id)
	defer forget()
	r.sendQuestion(id, "Which of us is the first?")
	r.sendQuestion(id, "Which of us is the second?")
	select {
	case m := <-response:
		return text("Answer: %s", indent(m.Raw)), nil
	case <-r.ctx.Done():
		return nil, errNoReply
	}
}

func askReusedID(r *request) (object, error) {
	id := r.session.newID()
	var answers [2]json.RawMessage
	for i := range answers {
		var err error
		if answers[i], err = r.send(id, question{"elicitation/create", nameForm(fmt.Sprintf("Question %d with this id?", i+1))}); err != nil {
			return nil, err
		}
	}
	return text("Answers: %s, %s", answers[0], answers[1]), nil
}

func askLate(r *request) (object, error) {
	_ = r.out.Send("", msg.EncodeResult(r.id, text("The call has ended.")))
	_, err := r.send(r.session.newID(), question{"elicitation/create", nameForm("Is it too late to ask?")})
	r.log("info", fmt.Sprintf("the late question ended with %v", err))
	return nil, errNoReply
}

func flood(r *request) (object, error) {
	count, err := r.number("count", 100_000, 100_000_000)
	if err != nil {
		return nil, err
	}
	for i := range count {
		r.progress(float64(i+1), float64(count), "flood")
		r.log("info", "flood")
		if r.ctx.Err() != nil {
			return nil, errNoReply
		}
	}
	return text("Sent %d notifications of each kind.", count), nil
}

func floodChanges(r *request) (object, error) {
	count, err := r.number("count", 10_000, 10_000_000)
	if err != nil {
		return nil, err
	}
	out := r.out
	r.session.mu.Lock()
	if r.session.stream != nil {
		out = r.session.stream
	}
	r.session.mu.Unlock()
	for range count {
		for _, method := range []string{mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged} {
			_ = out.Send("", msg.EncodeNotification(method, nil))
		}
		if r.ctx.Err() != nil {
			return nil, errNoReply
		}
	}
	return text("Said so %d times.", count), nil
}

func floodStderr(r *request) (object, error) {
	n, err := r.number("bytes", 1<<20, 4<<30)
	if err != nil {
		return nil, err
	}
	line := append(bytes.Repeat([]byte("flood "), 10_000), '\n')
	for written := 0; written < n; written += len(line) {
		if _, err := r.server.options.Stderr.Write(line[max(0, len(line)-(n-written)):]); err != nil {
			return nil, err
		}
		if r.ctx.Err() != nil {
			return nil, errNoReply
		}
	}
	return text("Wrote %d bytes.", n), nil
}

func exit(r *request) (object, error) {
	status, err := r.number("status", 3, 255)
	if err != nil {
		return nil, err
	}
	asks := false
	if err := r.argument("ask", &asks); err != nil {
		return nil, err
	}
	after, err := r.milliseconds("after", 0)
	if err != nil {
		return nil, err
	}
	if after > 0 { // from when the client has the result
		_ = r.out.Send("", r.encode(text("The process ends in %v.", after), nil))
		if stdio, ok := r.out.(lineSender); ok {
			stdio.Flush()
		}
		time.AfterFunc(after, func() { r.server.options.Exit(status) })
		return nil, errNoReply
	}
	if asks && !r.isModern() {
		r.sendQuestion(r.session.newID(), "Will you answer before the server ends?")
		if err := r.wait(200 * time.Millisecond); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(r.server.options.Stderr, "test-server: fault_exit ends the process")
	r.server.options.Exit(status)
	return nil, errNoReply
}

func setListFault(r *request) (object, error) {
	var name string
	if err := r.argument("fault", &name); err != nil {
		return nil, err
	}
	isKnown := name == ""
	for _, f := range listFaults() {
		isKnown = isKnown || f.name == name && f.page != nil
	}
	if !isKnown {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "the list of tools has no fault %q", name)
	}
	r.server.mu.Lock()
	r.server.fault = name
	r.server.mu.Unlock()
	r.server.notifyAll(mcp.MethodNotificationToolsListChanged, "")
	return text("The fault of the list is now %q.", name), nil
}
