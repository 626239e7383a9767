package mcp_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
)

// sendElicitationResponse sends an elicitation-response with tasks/get.
func (w *stdioClient) sendElicitationResponse(id int, task, response string) string {
	w.t.Helper()
	w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tasks/get","params":{"taskId":%q,"_meta":{"io.modelcontextprotocol/elicitation-response":%s}}}`, id, task, response)
	return w.awaitResponse(id)
}

// The error for an invalid answer names the member that is wrong, and the question
// stays open.
func TestElicitationResponseIsValidated(t *testing.T) {
	r := newTaskServer(t, askingPhoton("number", ask.ForNumber("size", "How many?", ask.Range(1, 20))))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task, other := w.createTask(1, "number"), w.createTask(2, "number")
	question := `"elicitationId":"` + task + `.3"`
	for response, want := range map[string]string{
		`7`:                                     "must be an object",
		`[]`:                                    "must be an object",
		`"x"`:                                   "must be an object",
		`{}`:                                    ".elicitationId must be",
		`{"elicitationId":7,"action":"accept"}`: ".elicitationId must be",
		`{"elicitationId":"nonsense","action":"accept"}`:            ".elicitationId belongs to no question",
		`{"elicitationId":"` + other + `.3","action":"decline"}`:    ".elicitationId belongs to no question",
		`{"elicitationId":"` + task + `.1","action":"decline"}`:     ".elicitationId belongs to no question",
		`{"elicitationId":"` + task + `.99999","action":"decline"}`: ".elicitationId belongs to no question",
		`{` + question + `}`:                                              ".action must be",
		`{` + question + `,"action":"agree"}`:                             ".action must be",
		`{` + question + `,"action":["accept"]}`:                          ".action must be",
		`{` + question + `,"action":"accept","content":[4]}`:              ".content must be an object",
		`{` + question + `,"action":"accept","content":"4"}`:              ".content must be an object",
		`{` + question + `,"action":"accept"}`:                            ".content is not valid",
		`{` + question + `,"action":"accept","content":null}`:             ".content is not valid",
		`{` + question + `,"action":"accept","content":{}}`:               `{"path":"/size"`,
		`{` + question + `,"action":"accept","content":{"size":40}}`:      `/size must be at most 20`,
		`{` + question + `,"action":"accept","content":{"size":"forty"}}`: `{"path":"/size"`,
	} {
		got := w.sendElicitationResponse(3, task, response)
		if jsonMember(t, got, "error", "code") != "-32602" || !strings.Contains(got, want) {
			t.Errorf("%s gets the response\n%s\nwant it to contain %s", response, got, want)
		}
	}
	if got := w.taskStatus(task); got != "input_required" {
		t.Errorf("after answers that do not fit the task is %s, want input_required", got)
	}
	if got := w.sendElicitationResponse(4, task, `{`+question+`,"action":"accept","content":{"size":4}}`); !strings.Contains(got, `"status":"completed"`) && !strings.Contains(got, `"status":"working"`) {
		t.Errorf("a valid answer gets the response %s", got)
	}
	w.sendTaskRequest(5, "tasks/result", task)
	w.awaitResponse(5)
	// If the response was lost, the client sends the same answer again, or another one.
	for _, action := range []string{"accept", "decline"} {
		got := w.sendElicitationResponse(6, task, `{`+question+`,"action":"`+action+`","content":{"size":9}}`)
		if !strings.Contains(got, `"status":"completed"`) {
			t.Errorf("a second answer gets the response %s, want the task as it is", got)
		}
	}
	w.sendTaskRequest(7, "tasks/result", task)
	if got := w.awaitResponse(7); !strings.Contains(got, `"text":"4"`) {
		t.Errorf("the result is %s, want what was answered first", got)
	}
}

func TestDeclineAndCancelReachTaskTool(t *testing.T) {
	for action, want := range map[string]string{"decline": "declined", "cancel": "dismissed"} {
		w := newTaskServer(t, askingPhoton("number", ask.ForNumber("size", "How many?"))).connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		task := w.createTask(1, "number")
		w.sendElicitationResponse(2, task, `{"elicitationId":"`+task+`.3","action":"`+action+`"}`)
		w.sendTaskRequest(3, "tasks/result", task)
		if got := w.awaitResponse(3); jsonMember(t, got, "result", "isError") != "true" || !strings.Contains(got, "The user "+want+` \"How many?\"`) {
			t.Errorf("after %s the result is %s", action, got)
		}
		if got := w.taskStatus(task); got != "failed" {
			t.Errorf("after %s the task is %s, want failed: its result has isError", action, got)
		}
	}
}

// The response to an answer contains the next question. Concurrent questions come
// together.
func TestAnswerReturnsNextTaskQuestion(t *testing.T) {
	effects := 0
	w := newTaskServer(t, twoQuestionsInTurn(&effects), twoQuestions).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "inturn")
	got := w.sendElicitationResponse(2, task, `{"elicitationId":"`+task+`.3","action":"accept","content":{"first":"one"}}`)
	if jsonMember(t, got, "result", "status") != `"input_required"` || !strings.Contains(got, `"message":"Second?\n\nThis question is lost if Beam restarts."`) || strings.Contains(got, `"message":"First?\n\nThis question is lost if Beam restarts."`) {
		t.Errorf("the first answer gets the response %s, want the second question", got)
	}
	w.sendLine(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"two","task":{}}}`)
	if got := w.awaitResponse(3); strings.Count(got, `"elicitationId"`) != 2 {
		t.Errorf("the task begins with %s, want both questions", got)
	}
}

// Secrets are not sent over MCP. The elicitation has the address of Beam's page, even
// for a client that does not know URL elicitation, and to accept means to open it.
func TestTaskSecretIsAskedOnPage(t *testing.T) {
	r := newTaskServer(t, askingPhoton("secret", ask.ForSecret("key", "The key?")))
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret","task":{}}}`)
	created := w.nextLine()
	task := w.createdTaskID(created)
	if want := `{"mode":"url","message":"The key?\n\nThis question is lost if Beam restarts.","elicitationId":"` + task + `.3","url":"` + pagesOrigin + `/asks/` + task + `.3"}`; !strings.Contains(created, want) {
		t.Errorf("the task is created with %s, want %s", created, want)
	}
	got := w.sendElicitationResponse(2, task, `{"elicitationId":"`+task+`.3","action":"accept","content":{"key":"swordfish"}}`)
	if !strings.Contains(got, `"status":"input_required"`) {
		t.Errorf("an accept gets the response %s: the answer is given on the page", got)
	}
	if got := w.sendElicitationResponse(3, task, `{"elicitationId":"`+task+`.3","action":"decline"}`); strings.Contains(got, "input_required") {
		t.Errorf("a decline gets the response %s", got)
	}
}
