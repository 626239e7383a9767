package testserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A form is a question whose answer the tool returns as it is: action and content.
type form struct {
	name, description string
	properties        string
	required          string // names, as JSON
}

// forms are the questions with one kind of field each, and those with all of them.
var forms = []form{
	{"ask_text", "a text with a length from 2 to 20", `"text":{"type":"string","title":"Text","description":"Two characters or more.","minLength":2,"maxLength":20}`, `"text"`},
	{"ask_formats", "texts with every format", `"email":{"type":"string","format":"email"},"uri":{"type":"string","format":"uri"},` +
		`"date":{"type":"string","format":"date"},"time":{"type":"string","format":"date-time"}`, `"email"`},
	{"ask_number", "a number from 0.5 to 9.5", `"number":{"type":"number","title":"Number","minimum":0.5,"maximum":9.5}`, `"number"`},
	{"ask_integer", "an integer from 1 to 10", `"integer":{"type":"integer","title":"Integer","minimum":1,"maximum":10}`, `"integer"`},
	{"ask_boolean", "true or false", `"boolean":{"type":"boolean","title":"Boolean"}`, `"boolean"`},
	{"ask_enum", "one of three values without titles", `"color":{"type":"string","enum":["red","green","blue"]}`, `"color"`},
	{"ask_titled_enum", "one of three values with titles", `"color":{"type":"string","oneOf":[` + titles + `]}`, `"color"`},
	{"ask_legacy_enum", "one of three values with enumNames", `"color":{"type":"string","enum":["#f00","#0f0","#00f"],"enumNames":["Red","Green","Blue"]}`, `"color"`},
	{"ask_multi_select", "one or two of three values", `"colors":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["red","green","blue"]},"default":["red"]}`, `"colors"`},
	{"ask_titled_multi_select", "one or two of three values with titles", `"colors":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[` + titles + `]}}`, `"colors"`},
	{"ask_defaults", "a field of each kind, with defaults", `"text":{"type":"string","default":"Ada"},"integer":{"type":"integer","default":30},"number":{"type":"number","default":95.5},` +
		`"boolean":{"type":"boolean","default":true},"choice":{"type":"string","enum":["one","two"],"default":"two"},"several":{"type":"array","items":{"type":"string","enum":["a","b","c"]},"default":["a","c"]}`, ""},
	{"ask_optional", "fields that may stay empty", `"text":{"type":"string"},"number":{"type":"number"},"choice":{"type":"string","enum":["one","two"]}`, ""},
	{"ask_confirm", "nothing but consent", "", ""},
	{"ask_password", "a password, which a form must not do", `"password":{"type":"string","title":"Password","description":"The password of your bank account."}`, `"password"`},
}

const titles = `{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"},{"const":"#00f","title":"Blue"}`

// schema returns the requested schema.
func (f form) schema() json.RawMessage {
	if f.required == "" {
		return json.RawMessage(`{"type":"object","properties":{` + f.properties + `}}`)
	}
	return json.RawMessage(`{"type":"object","properties":{` + f.properties + `},"required":[` + f.required + `]}`)
}

func (f form) ask(r *request) (object, error) {
	return showAnswer(r.elicit(object{"message": "Please answer: " + f.description + ".", "requestedSchema": f.schema()}))
}

// showAnswer returns a result that shows the client's answer, whatever it is.
func showAnswer(answer json.RawMessage, err error) (object, error) {
	if err != nil {
		return nil, err
	}
	return text("Answer: %s", indent(answer)), nil
}

func elicitationTools() (tools []*tool) {
	for _, f := range forms {
		tools = append(tools, &tool{name: f.name, description: "Asks for " + f.description + ".", run: f.ask})
	}
	return append(tools,
		&tool{
			name: "ask_anything", description: "Asks with the params that it is given.",
			input: `"params":{"type":"object","description":"The params of elicitation/create."}`, required: []string{"params"}, run: askAnything,
		},
		&tool{name: "ask_in_turn", description: "Asks two questions, one after the other.", run: askInTurn},
		&tool{
			name: "ask_at_once", description: "Asks several questions at once.",
			input: `"count":{"type":"integer","default":3,"minimum":1,"maximum":1000}`, run: askAtOnce,
		},
		&tool{
			name: "ask_url", description: "Asks to open a URL, and notifies the client when that is done.",
			input: `"url":{"type":"string","default":"https://example.com/authorize"},"after":{"type":"integer","description":"Milliseconds until the notification.","default":100}`, run: askURL,
		},
		&tool{
			name: "require_url", description: "Fails with -32042 until a URL was opened; from 2026-07-28 it asks to open it.",
			input: `"url":{"type":"string","default":"https://example.com/authorize"},"after":{"type":"integer","default":100}`, run: requireURL,
		},
	)
}

func askAnything(r *request) (object, error) {
	var params json.RawMessage
	if err := r.argument("params", &params); err != nil {
		return nil, err
	}
	return showAnswer(r.elicit(params))
}

func nameForm(message string) object {
	return object{"message": message, "requestedSchema": json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}
}

func askInTurn(r *request) (object, error) {
	first, err := r.elicit(nameForm("Who is the first?"))
	if err != nil {
		return nil, err
	}
	second, err := r.elicit(nameForm("Who is the second?"))
	if err != nil {
		return nil, err
	}
	return text("Answers: %s, %s", first, second), nil
}

func askAtOnce(r *request) (object, error) {
	count, err := r.number("count", 3, 1000)
	if err != nil {
		return nil, err
	}
	var questions []question
	for i := range count {
		questions = append(questions, question{"elicitation/create", nameForm(fmt.Sprintf("Who is number %d?", i+1))})
	}
	answers, err := r.askAll(questions...)
	if err != nil {
		return nil, err
	}
	all, err := json.Marshal(answers)
	return text("Answers: %s", all), err
}

// urlQuestion returns the params of a question in URL mode. Its id came with 2025-11-25
// and went with 2026-07-28.
func (r *request) urlQuestion(id string) (object, error) {
	address := "https://example.com/authorize"
	if err := r.argument("url", &address); err != nil {
		return nil, err
	}
	p := object{"mode": "url", "message": "Please authorize the test server.", "url": address}
	if !r.isModern() {
		p["elicitationId"] = id
	}
	return p, nil
}

func askURL(r *request) (object, error) {
	id := rand.Text()
	p, err := r.urlQuestion(id)
	if err != nil {
		return nil, err
	}
	answer, err := r.elicit(p)
	if err != nil || r.isModern() {
		return showAnswer(answer, err)
	}
	var answered struct{ Action string }
	if json.Unmarshal(answer, &answered) == nil && answered.Action == "accept" {
		if err := r.completeURL(id); err != nil {
			return nil, err
		}
	}
	return showAnswer(answer, nil)
}

// completeURL notifies the client, after the time in the argument, that the person has
// done what the URL asked for.
func (r *request) completeURL(id string) error {
	after, err := r.milliseconds("after", 100)
	if err == nil {
		err = r.awaitOpened(r.ctx, after)
	}
	if err == nil {
		r.notify("notifications/elicitation/complete", object{"elicitationId": id})
	}
	return err
}

// requireURL fails with -32042 the first time. The notification of completion comes on
// the session's own stream, since the call has ended by then.
func requireURL(r *request) (object, error) {
	if r.isModern() {
		return askURL(r)
	}
	p, err := r.urlQuestion("")
	if err != nil {
		return nil, err
	}
	key := p["url"].(string)
	s := r.server
	s.mu.Lock()
	done := s.openURLs[key]
	s.mu.Unlock()
	if done {
		return text("The URL was opened."), nil
	}
	after, err := r.milliseconds("after", 100)
	if err != nil {
		return nil, err
	}
	id := rand.Text()
	p["elicitationId"] = id
	go r.completeLater(key, id, after)
	e := msg.Errorf(mcp.URL_ELICITATION_REQUIRED, "This needs your authorization.")
	e.Data = object{"elicitations": []any{p}}
	return nil, e
}

// awaitOpened waits until a person has opened a URL, for a time, or until ctx ends.
func (r *request) awaitOpened(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.server.options.Opened:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// completeLater records that a URL was opened, and notifies the client on its session's
// own stream.
func (r *request) completeLater(url, id string, after time.Duration) {
	if r.awaitOpened(r.session.ctx, after) != nil {
		return
	}
	r.server.mu.Lock()
	r.server.openURLs[url] = true
	r.server.mu.Unlock()
	select {
	case <-r.session.streamed:
	case <-r.session.ctx.Done():
		return
	}
	r.session.mu.Lock()
	out := r.session.stream
	r.session.mu.Unlock()
	if out != nil {
		_ = out.Send("", msg.EncodeNotification("notifications/elicitation/complete", object{"elicitationId": id})) // a client that is gone needs none
	}
}
