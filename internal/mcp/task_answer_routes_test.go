package mcp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
)

// For each combination of who answers a task's question, how, and over which transport,
// the generator sees one outcome, the client reads the same, and a late answer does no
// harm.
func TestFirstAnswerToTaskWins(t *testing.T) {
	answers := map[askdata.Action]string{askdata.Accept: `"text":"caller"|"text":"browser"`, askdata.Decline: `The user declined \"Which word?\"`, askdata.Cancel: `The user dismissed \"Which word?\"`}
	for _, transport := range []string{"stdio", "http"} {
		for _, by := range []string{"caller", "browser", "both"} {
			for action, want := range answers {
				t.Run(fmt.Sprintf("%s/%s/%s", transport, by, action), func(t *testing.T) {
					r := newTaskServer(t, askingPhoton("word", ask.ForText("word", "Which word?")))
					send := r.connectTransport(t, transport)
					created := send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
					task := strings.Trim(jsonMember(t, created, "result", "taskId"), `"`)
					var all sync.WaitGroup
					if by == "caller" || by == "both" {
						all.Go(func() {
							got := send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%q,"_meta":{"io.modelcontextprotocol/elicitation-response":{"elicitationId":"%s.3","action":%q,"content":{"word":"caller"}}}}}`, task, task, action))
							if strings.Contains(got, `"error"`) {
								t.Errorf("the caller's answer gets the response %s", got)
							}
						})
					}
					if by != "caller" {
						all.Go(func() {
							a := askdata.Answer{Action: action}
							if action == askdata.Accept {
								a.Content = []byte(`{"word":"browser"}`)
							}
							if err := r.engine.Answer(t.Context(), operator, task+".3", a, "browser"); err != nil && (by != "both" || !errors.Is(err, engine.ErrSettled)) {
								t.Error(err)
							}
						})
					}
					got := send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":%q}}`, task))
					all.Wait()
					either, or, _ := strings.Cut(want, "|")
					if !strings.Contains(got, either) && (or == "" || !strings.Contains(got, or)) {
						t.Errorf("the result is %s, want %s", got, want)
					}
					if again := send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":%q}}`, task)); again != got {
						t.Errorf("the result is\n%s\nfirst and then\n%s", got, again)
					}
				})
			}
		}
	}
}

// If nobody answers, the task stays input_required until its client cancels it. Then it
// is in nobody's inbox.
func TestNobodyAnswersATask(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		r := newTaskServer(t, askingPhoton("word", ask.ForText("word", "Which word?")))
		send := r.connectTransport(t, transport)
		created := send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`)
		task := strings.Trim(jsonMember(t, created, "result", "taskId"), `"`)
		for range 3 {
			got := send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%q}}`, task))
			if status := jsonMember(t, got, "result", "status"); status != `"input_required"` || must(r.engine.CountOpenAsks(operator)) != 1 {
				t.Errorf("over %s the task is %s, with %d questions in the inbox", transport, status, must(r.engine.CountOpenAsks(operator)))
			}
		}
		got := send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tasks/cancel","params":{"taskId":%q}}`, task))
		if status := jsonMember(t, got, "result", "status"); status != `"cancelled"` || must(r.engine.CountOpenAsks(operator)) != 0 {
			t.Errorf("over %s the task is %s then, with %d questions in the inbox", transport, status, must(r.engine.CountOpenAsks(operator)))
		}
	}
}

// connectTransport connects a client that can't be asked, and returns a function that
// sends a request and returns its response.
func (r *testServer) connectTransport(t *testing.T, name string) func(body string) string {
	if name == "http" {
		v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{}`)
		return func(body string) string {
			response := v.postMessage(body)
			defer response.Body.Close()
			raw, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%s: %s %v", body, response.Status, err)
			}
			_, message, streamed := strings.Cut(string(raw), "data: {")
			if streamed {
				return strings.TrimSpace("{" + message)
			}
			return string(raw)
		}
	}
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	var mu sync.Mutex
	waiting := map[string]chan string{}
	go func() {
		for line := range w.lines {
			mu.Lock()
			if got := waiting[jsonMember(t, line, "id")]; got != nil {
				got <- line
			}
			mu.Unlock()
		}
	}()
	return func(body string) string {
		got := make(chan string, 1)
		mu.Lock()
		waiting[jsonMember(t, body, "id")] = got
		mu.Unlock()
		w.sendLine("%s", body)
		return <-got
	}
}
