package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

func TestWireIDs(t *testing.T) {
	t.Parallel()
	w := newInitializedClient(t, version20251125)
	for _, id := range []string{"9007199254740993", "-1", "0", `"9007199254740993"`, `"ü\u0000\"\\"`, `""`, "18446744073709551616"} {
		w.sendLines(callLine(id, "string", "{}"))
		w.expectResult(id)
	}
	w.sendLines(`{"jsonrpc":"2.0","id":9007199254740995,"method":"tools/call","params":{"name":"progress","arguments":{"count":1},"_meta":{"progressToken":9007199254740993}}}`)
	if m := w.nextMessage(); !strings.Contains(m.line, `"progressToken":9007199254740993,`) {
		t.Errorf("the token is not as it was: %s", m.line)
	}
	w.expectResult("9007199254740995")
	w.closeAndWait()
}

func TestWireLines(t *testing.T) {
	t.Parallel()
	w := newStdioClient(t)
	w.sendLines("", "  ", "\r", `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\r")
	w.expectResult("1")
	w.sendLines(callLine("2", "string", "{}"))
	w.expectError("2", -32600) // before initialize
	w.sendLines(initializeLine(version20251125))
	w.expectResult(`"init"`)
	for line, code := range map[string]int{
		`garbage`: -32700, `{"jsonrpc":"2.0"`: -32700, "\x00\xff": -32700, `[`: -32600, `[]`: -32600, `{}`: -32600, `7`: -32600, `null`: -32600,
		`{"jsonrpc":"1.0","method":"x"}`: -32600, `{"jsonrpc":"2.0","id":null,"method":"ping"}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: -32600, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`: -32600,
	} {
		w.sendLines(line)
		if m := w.nextMessage(); m.Error == nil || m.Error.Code != code || m.ID != nil && string(m.ID) != "null" {
			t.Errorf("%s was answered with %s, want the error %d", line, m.line, code)
		}
	}
	w.sendLines(`{"jsonrpc":"2.0","id":3,"method":"nonesuch"}`)
	w.expectError("3", -32601)
	w.sendLines(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nonesuch"}}`)
	w.expectError("4", -32602)
	w.sendLines(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[]}`)
	w.expectError("4", -32602)
	w.sendLines(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"string","arguments":null}}`)
	if r := w.expectResult("5"); strings.Contains(string(r), "isError") {
		t.Errorf("arguments of null: %s", r)
	}
	w.sendLines(`{"jsonrpc":"2.0","id":"unknown","result":{}}`, `{"jsonrpc":"2.0","method":"notifications/nonesuch"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	w.sendLines(`{"jsonrpc":"2.0","id":6,"method":"ping","x":"` + strings.Repeat("x", 17<<20) + `"}`)
	if m := w.nextMessage(); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a huge line was answered with %s", m.line)
	}
	io.WriteString(w.in, `{"jsonrpc":"2.0","id":7,"method":"ping"}`) // without a newline
	w.in.Close()
	w.expectResult("7")
	w.waitForExit()
}

// Messages that a client sends all at once are served in order where order matters.
func TestWirePipelined(t *testing.T) {
	t.Parallel()
	w := newStdioClient(t)
	w.sendLines(initializeLine(version20251125), initializedLine, callLine("1", "echo", `{"name":"one"}`), callLine("2", "string", `{}`))
	w.expectResult(`"init"`)
	var asked, results []string
	for range 10 { // five steps, a question, the other result, then the last step and the result
		switch m := w.nextMessage(); {
		case m.Method == "elicitation/create":
			asked = append(asked, m.Params.Message)
			w.sendLines(answerLine(m.ID, "x"))
		case m.Method == "":
			results = append(results, string(m.ID))
		}
		if len(results) == 2 {
			break
		}
	}
	if !slices.Equal(asked, []string{"Say one\n\nThis question is lost if Beam restarts."}) || len(results) != 2 {
		t.Errorf("it asked %q and answered %q", asked, results)
	}
	w.closeAndWait()
}

func TestWireDuplicateID(t *testing.T) {
	t.Parallel()
	w := newInitializedClient(t, version20251125)
	w.sendLines(callLine("1", "slow_ask", `{"name":"a"}`))
	id := w.expectQuestion()
	w.sendLines(callLine("1", "string", `{}`))
	w.expectError("1", -32600)
	w.sendLines(answerLine(id, "x"), answerLine(id, "y")) // only the first counts
	if r := w.expectResult("1"); !strings.Contains(string(r), `"value":"x"`) {
		t.Errorf("the result is %s", r)
	}
	w.sendLines(callLine("1", "string", `{}`)) // the id is free again
	w.expectResult("1")
	w.closeAndWait()
}

func TestWireBatches(t *testing.T) {
	t.Parallel()
	batch := "[" + callLine("1", "string", "{}") + "," + initializedLine + `,7,{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	w := newInitializedClient(t, "2025-03-26")
	w.sendLines(batch)
	line := <-w.lines
	var list []serverMessage
	if err := json.Unmarshal([]byte(line), &list); err != nil || len(list) != 3 || string(list[0].ID) != "1" || list[1].Error == nil || string(list[2].ID) != "2" {
		t.Errorf("the batch was answered with %s", line)
	}
	w.sendLines("["+initializedLine+"]", `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	w.expectResult("3") // a batch of notifications gets no response
	w.closeAndWait()
	w = newInitializedClient(t, version20250618)
	w.sendLines(batch)
	w.expectError("", -32600)
	w.closeAndWait()
}

func TestWireProgressComesFirst(t *testing.T) {
	t.Parallel()
	const steps = 500
	w := newInitializedClient(t, version20251125)
	w.sendLines(callLine("1", "progress", fmt.Sprintf(`{"count":%d}`, steps)))
	for i := range steps {
		if m := w.nextMessage(); m.Method != "notifications/progress" || m.Params.Progress != float64(i+1) {
			t.Fatalf("step %d is %s", i+1, m.line)
		}
	}
	w.expectResult("1")
	w.closeAndWait()
}

// A cancelled call gets no response, its deferred functions run, and its question is
// withdrawn.
func TestWireCancelled(t *testing.T) {
	t.Parallel()
	w := newInitializedClient(t, version20251125)
	w.sendLines(callLine("1", "slow_ask", `{"name":"a"}`))
	id := w.expectQuestion()
	w.sendLines(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if m := w.nextMessage(); m.Method != "notifications/cancelled" || string(m.Params.RequestID) != string(id) {
		t.Errorf("got %s, want the question %s withdrawn", m.line, id)
	}
	w.sendLines(callLine("2", "await", `{"name":"a"}`))
	w.expectResult("2")
	w.sendLines(answerLine(id, "too late"))
	w.expectWithdrawnAtTimeout()
	w.closeAndWait()
}

// expectWithdrawnAtTimeout calls a tool whose question is withdrawn when its time runs out.
// On a busy machine that may be before it is asked; then it calls the tool again.
func (w *stdioClient) expectWithdrawnAtTimeout() {
	w.t.Helper()
	for asked := false; !asked; {
		w.sendLines(callLine("3", "hurried", `{}`))
		m := w.nextMessage()
		if asked = m.Method == "elicitation/create"; asked {
			if cancelled := w.nextMessage(); cancelled.Method != "notifications/cancelled" || string(cancelled.Params.RequestID) != string(m.ID) {
				w.t.Errorf("got %s, want the question %s withdrawn", cancelled.line, m.ID)
			}
			m = w.nextMessage()
		}
		if string(m.ID) != "3" || !strings.Contains(string(m.Result), `"timeout"`) {
			w.t.Fatalf("got %s, want the result of 3", m.line)
		}
	}
}

// However it is told to end, the program exits successfully at once, and runs the
// deferred functions of waiting generators.
func TestWireEnd(t *testing.T) {
	for name, end := range map[string]func(*stdioClient){
		"EOF":     func(w *stdioClient) { w.in.Close() },
		"SIGTERM": func(w *stdioClient) { w.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(w *stdioClient) { w.cmd.Process.Signal(syscall.SIGINT) },
	} {
		for _, tool := range []string{"slow_ask", "durable_ask", "slow", ""} {
			t.Run(name+" "+tool, func(t *testing.T) {
				t.Parallel()
				w := newInitializedClient(t, version20251125)
				if tool != "" {
					w.sendLines(callLine("1", tool, `{"name":"a"}`))
					w.nextMessage() // the call has begun
				}
				end(w)
				w.waitForExit()
				if tool != "" && !strings.Contains(w.console.String(), "left a") {
					t.Errorf("the defers did not run:\n%s", w.console)
				}
				for line := range w.lines {
					if !json.Valid([]byte(line)) {
						t.Errorf("stdout has %q", line)
					}
				}
			})
		}
	}
}

// A client that stops reading counts as gone.
func TestWireClosedStdout(t *testing.T) {
	t.Parallel()
	w := newInitializedClient(t, version20251125)
	w.sendLines(callLine("1", "slow_ask", `{"name":"a"}`))
	w.expectQuestion()
	w.out.Close()
	w.sendLines(callLine("2", "string", `{}`))
	timer := time.AfterFunc(programtest.WaitTimeout, func() { w.cmd.Process.Kill() })
	defer timer.Stop()
	begun := time.Now()
	if err := w.cmd.Wait(); err != nil && w.cmd.ProcessState.ExitCode() < 0 || time.Since(begun) > programtest.ExitTimeout {
		t.Errorf("it ended with %v after %v\n%s", err, time.Since(begun), w.console)
	}
	if !strings.Contains(w.console.String(), "left a") {
		t.Errorf("the defers did not run:\n%s", w.console)
	}
}
